/** `?`: the keys, in one list. */
import { Dialog } from "@base-ui/react/dialog"
import { Fragment } from "react"
import { useStart } from "../../feed/start.ts"
import { words } from "../../words/en.ts"
import { keysOpen } from "./dialogs.ts"
import { menuFor } from "../navigation/menu.ts"

export const KeysDialog = () => {
  const { me } = useStart()
  const ways = [
    { key: "d", name: words.decisions },
    { key: "r", name: words.runs },
    ...menuFor(me).flatMap(({ key, name }) => (key === undefined ? [] : [{ key, name }])),
  ]
  return (
    <Dialog.Root open onOpenChange={(open) => (open ? undefined : keysOpen.set(() => false))}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>{words.keys}</Dialog.Title>
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
            <Dialog.Close className="button">{words.close}</Dialog.Close>
          </p>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
