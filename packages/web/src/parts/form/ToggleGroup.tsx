/** Buttons side by side, one of them pressed: a choice among a few. */
interface ToggleGroupProps<A extends string> {
  readonly options: ReadonlyArray<A>
  readonly value: A
  readonly nameOf: (option: A) => string
  readonly choose: (option: A) => void
  readonly label?: string
  readonly isTiny?: boolean
  readonly isPushed?: boolean
}

export const ToggleGroup = <A extends string>({
  choose,
  isPushed = false,
  isTiny = false,
  label,
  nameOf,
  options,
  value,
}: ToggleGroupProps<A>) => (
  <span className={isPushed ? "joined push" : "joined"} role="group" aria-label={label}>
    {options.map((one) => (
      <button
        key={one}
        type="button"
        className={isTiny ? "button tiny" : "button"}
        aria-pressed={one === value}
        onClick={() => choose(one)}
      >
        {nameOf(one)}
      </button>
    ))}
  </span>
)
