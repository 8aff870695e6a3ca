/** What surrounds every screen: the sidebar, the tabs of a phone, the skip link, the keys and the title. */
import { Outlet } from "@tanstack/react-router"
import { lazy, Suspense, useEffect } from "react"
import { words } from "../words/en.ts"
import { PausedBanner } from "./PausedBanner.tsx"
import { Sidebar } from "./navigation/Sidebar.tsx"
import { TabBar } from "./navigation/TabBar.tsx"
import { useKeys } from "./keys/useKeys.ts"
import { later } from "../feed/clock.ts"
import { useStore } from "../feed/store.ts"
import { modal } from "../parts/press/overlays.ts"

const loadKeys = () => import("./keys/KeysDialog.tsx").then(({ KeysDialog }) => ({ default: KeysDialog }))
const loadJump = () => import("./keys/JumpDialog.tsx").then(({ JumpDialog }) => ({ default: JumpDialog }))
const dialogs = { keys: lazy(loadKeys), jump: lazy(loadJump) }

export const Layout = () => {
  useKeys()
  const open = useStore(modal)
  // Loaded before it is asked for, so that no letter after Ctrl K is lost.
  useEffect(() => later(1000, () => void loadJump().catch(() => undefined)), [])
  const Dialog = open === undefined ? undefined : dialogs[open]
  return (
    <>
      <div className="app" inert={open !== undefined}>
        <a className="skip" href="#main">
          {words.skip}
        </a>
        <Sidebar />
        <main className="main" id="main" tabIndex={-1}>
          <PausedBanner />
          <Outlet />
        </main>
        <TabBar />
      </div>
      {Dialog === undefined ? null : (
        <Suspense>
          <Dialog />
        </Suspense>
      )}
    </>
  )
}
