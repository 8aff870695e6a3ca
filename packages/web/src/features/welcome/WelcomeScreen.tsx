/** A house without spaces: the guide as a page. */
import { Link } from "@tanstack/react-router"
import { Header } from "../../layout/Header.tsx"
import { Guide } from "./Guide.tsx"
import { words } from "./words/en.ts"

export const WelcomeScreen = () => (
  <>
    <Header title={words.title} />
    <div className="scroll grow">
      <div className="page narrow stack wide-gap">
        <Guide />
        <p>
          <Link className="button main-act" to="/spaces" search={{ open: true }}>
            {words.openSpace}
          </Link>
        </p>
      </div>
    </div>
  </>
)
