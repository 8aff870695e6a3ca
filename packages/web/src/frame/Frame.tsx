/** What surrounds every screen: the side, the tabs of a phone, the skip link, the keys and the title. */
import { Outlet } from "@tanstack/react-router"
import { lazy, Suspense } from "react"
import { words } from "../words/en.ts"
import { Paused } from "./Paused.tsx"
import { Side } from "./navigation/Side.tsx"
import { TabsBottom } from "./navigation/TabsBottom.tsx"
import { useKeys } from "./keys/useKeys.ts"
import { jumpOpen, keysOpen } from "./keys/dialogs.ts"
import { useStore } from "../feed/store.ts"

const Keys = lazy(() => import("./keys/Keys.tsx").then(({ Keys }) => ({ default: Keys })))
const Jump = lazy(() => import("./keys/Jump.tsx").then(({ Jump }) => ({ default: Jump })))

export const Frame = () => {
  useKeys()
  const jumps = useStore(jumpOpen)
  const asks = useStore(keysOpen)
  return (
    <div className="app">
      <a className="skip" href="#main">
        {words.skip}
      </a>
      <Side />
      <main className="main" id="main" tabIndex={-1}>
        <Paused />
        <Outlet />
      </main>
      <TabsBottom />
      {jumps ? (
        <Suspense>
          <Jump />
        </Suspense>
      ) : null}
      {asks ? (
        <Suspense>
          <Keys />
        </Suspense>
      ) : null}
    </div>
  )
}
