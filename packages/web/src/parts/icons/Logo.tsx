/** The logo of the house. */
export const Logo = () => (
  <svg viewBox="0 0 32 32" aria-hidden="true">
    <path d="M2 10 16 3l14 7v3H2zM5 15h4v11H5zm9 0h4v11h-4zm9 0h4v11h-4zM2 27h28v3H2z" />
  </svg>
)
