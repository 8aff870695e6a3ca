/** The page behind a signed link: one decision, one answer. What the house says without a script stands there already. */
import "./tokens.css"
import "./parts.css"
import "./page.css"
