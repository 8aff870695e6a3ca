/** `?`: the keys, in one list. */
import { Fragment } from "react"
import { useStart } from "../../feed/start.ts"
import { closeModal, ModalBox } from "../../parts/press/ModalBox.tsx"
import { words } from "../../words/en.ts"
import { menuFor } from "../navigation/menu.ts"

export const KeysDialog = () => {
  const { me } = useStart()
  const ways = [
    { key: "d", name: words.decisions },
    { key: "r", name: words.runs },
    ...menuFor(me).flatMap(({ key, name }) => (key === undefined ? [] : [{ key, name }])),
  ]
  return (
    <ModalBox name="keys" title={words.keys}>
      <div className="keys-lists">
        <dl className="kv">
          {words.keyList.map(([key, does]) => (
            <Fragment key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{does}</dd>
            </Fragment>
          ))}
        </dl>
        <dl className="kv">
          {ways.map(({ key, name }) => (
            <Fragment key={key}>
              <dt>
                <kbd>g</kbd> <kbd>{key}</kbd>
              </dt>
              <dd>{name}</dd>
            </Fragment>
          ))}
        </dl>
      </div>
      <p className="faint small">{words.keysOff}</p>
      <p>
        <button type="button" className="button" onClick={closeModal}>
          {words.close}
        </button>
      </p>
    </ModalBox>
  )
}
