/** JSON as a tree. Long values are folded; nothing in it becomes markup. */
import { collapseAllNested, defaultStyles, JsonView as Tree } from "react-json-view-lite"
import type { Json } from "../../feed/types.ts"

const styles: typeof defaultStyles = {
  ...defaultStyles,
  container: "json",
  basicChildStyle: "json-child",
  childFieldsContainer: "json-fields",
  label: "k",
  clickableLabel: "k click",
  nullValue: "n",
  undefinedValue: "n",
  stringValue: "v",
  booleanValue: "n",
  numberValue: "n",
  otherValue: "n",
  punctuation: "p",
  collapseIcon: "json-open",
  expandIcon: "json-shut",
  collapsedContent: "json-more",
  noQuotesForStringValues: false,
}

const small = 2000

export const JsonView = ({ label, value }: { readonly value: Json; readonly label: string }) => {
  if (typeof value !== "object" || value === null)
    return <pre className="code">{typeof value === "string" ? value : JSON.stringify(value)}</pre>
  const isSmall = JSON.stringify(value).length < small
  return (
    <div className="code">
      <Tree
        data={value}
        aria-label={label}
        style={styles}
        shouldExpandNode={isSmall ? () => true : collapseAllNested}
        clickToExpandNode
      />
    </div>
  )
}
