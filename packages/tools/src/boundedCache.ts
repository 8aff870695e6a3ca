/** A bounded cache: the most recently used entries stay. */
export class BoundedCache<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #most: number
  constructor(most: number) {
    this.#most = most
  }
  get size(): number {
    return this.#entries.size
  }
  find(key: K): V | undefined {
    const known = this.#entries.get(key)
    // The order matters only when the cache is getting full: moving an entry at every use would keep rebuilding the
    // map.
    if (known !== undefined && this.#entries.size * 2 > this.#most) {
      this.#entries.delete(key)
      this.#entries.set(key, known)
    }
    return known
  }
  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size > this.#most) this.#entries.delete(this.#entries.keys().next().value as K)
  }
  get(key: K, make: () => V): V {
    const known = this.find(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }
}
