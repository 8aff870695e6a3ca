import sprite from "./sprite.svg"

/** From the sprite beside this file (Lucide); decoration, so there is a word beside it or in the label around it. */
export const Icon = ({ name, small = false }: { readonly name: string; readonly small?: boolean }) => (
  <svg className={small ? "i s" : "i"} aria-hidden="true">
    <use href={`${sprite}#${name}`} />
  </svg>
)
