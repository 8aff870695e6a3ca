/** What surrounds every screen: the sidebar, the tabs of a phone, the skip link, the keys and the title. */
import { Outlet } from "@tanstack/react-router"
import { lazy, Suspense } from "react"
import { words } from "../words/en.ts"
import { PausedBanner } from "./PausedBanner.tsx"
import { Sidebar } from "./navigation/Sidebar.tsx"
import { TabBar } from "./navigation/TabBar.tsx"
import { useKeys } from "./keys/useKeys.ts"
import { jumpOpen, keysOpen } from "./keys/dialogs.ts"
import { useStore } from "../feed/store.ts"

const KeysDialog = lazy(() => import("./keys/KeysDialog.tsx").then(({ KeysDialog }) => ({ default: KeysDialog })))
const JumpDialog = lazy(() => import("./keys/JumpDialog.tsx").then(({ JumpDialog }) => ({ default: JumpDialog })))

export const Layout = () => {
  useKeys()
  const jumps = useStore(jumpOpen)
  const asks = useStore(keysOpen)
  return (
    <div className="app">
      <a className="skip" href="#main">
        {words.skip}
      </a>
      <Sidebar />
      <main className="main" id="main" tabIndex={-1}>
        <PausedBanner />
        <Outlet />
      </main>
      <TabBar />
      {jumps ? (
        <Suspense>
          <JumpDialog />
        </Suspense>
      ) : null}
      {asks ? (
        <Suspense>
          <KeysDialog />
        </Suspense>
      ) : null}
    </div>
  )
}
