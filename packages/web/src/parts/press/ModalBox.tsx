/** A box over the whole page. What is under it is inert (`layout/Layout.tsx`); Escape, and a press beside it, close it. */
import { Dialog } from "@base-ui/react/dialog"
import type { ReactNode } from "react"
import { type Modal, modal, modalOpener } from "./overlays.ts"

export interface ModalBoxProps {
  readonly name: Modal
  readonly title: string
  readonly className?: string
  readonly isTitleHidden?: boolean
  readonly children: ReactNode
}

export const closeModal = (): void => modal.set(() => undefined)

export const ModalBox = ({ children, className = "", isTitleHidden = false, name, title }: ModalBoxProps) => (
  <Dialog.Root open onOpenChange={(open) => (open ? undefined : closeModal())}>
    <Dialog.Portal>
      <Dialog.Backdrop className="backdrop" />
      <Dialog.Popup className={`dialog ${className}`} data-overlay={name} finalFocus={modalOpener}>
        <Dialog.Title className={isTitleHidden ? "vh" : undefined}>{title}</Dialog.Title>
        {children}
      </Dialog.Popup>
    </Dialog.Portal>
  </Dialog.Root>
)
