/** The page: one cache, one feed, one router. */
import "./tokens.css"
import "./parts.css"
import "./page.css"
import { CSPProvider } from "@base-ui/react/csp-provider"
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { cache } from "./feed/cache.ts"
import { house } from "./feed/house.ts"
import { onSignedOut } from "./feed/start.ts"
import { takeSignInLink } from "./features/signin/signInLink.ts"
import { router } from "./routes.ts"
import { guardPresses } from "./parts/press/press.ts"

guardPresses()

// A part of an old build is gone: the page was rebuilt, so load the new one. If the house itself is away, what is on the
// screen stays: a browser would put its own error in its place, and nothing would come back by itself.
addEventListener("vite:preloadError", () => {
  void house.session.look().then(
    () => location.reload(),
    () => undefined,
  )
})

onSignedOut(() => router.navigate({ to: "/door", search: { next: location.pathname } }))
if (takeSignInLink()) void router.navigate({ to: "/door", search: {}, replace: true })

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={cache}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
)
