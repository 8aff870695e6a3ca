/**
 * A set for members that come and go by the thousand. A `Set` would work, but V8 links every table that a set has
 * outgrown to the next one: once an old table is in the old generation, members of later ones are kept until a full
 * garbage collection.
 */
interface Place<A> {
  readonly who: A
  before: Place<A> | undefined
  after: Place<A> | undefined
}

export class LinkedSet<A> {
  #first: Place<A> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Adds a member; call the returned function once to remove it. */
  enter(who: A): () => void {
    const place: Place<A> = { who, before: undefined, after: this.#first }
    if (this.#first !== undefined) this.#first.before = place
    this.#first = place
    this.#size++
    let there = true
    return () => {
      if (!there) return
      there = false
      const { after, before } = place
      if (after !== undefined) after.before = before
      if (before === undefined) this.#first = after
      else before.after = after
      // A removed member must not keep others alive.
      place.before = place.after = undefined
      this.#size--
    }
  }

  *[Symbol.iterator](): IterableIterator<A> {
    let place = this.#first
    while (place !== undefined) {
      const { after } = place
      yield place.who
      place = after
    }
  }
}
