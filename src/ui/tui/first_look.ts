/**
 * Keys that were meant for something else.
 *
 * @module
 */

/** How long something has to be on the screen before a key can be meant for it, in ms. */
export const FIRST_LOOK = 250;

/** Tells whether the person has had the time to see what takes the keys now. */
export class FirstLook {
  #state: "new" | "shown" | "over" = "over";
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param onOver Told when keys are taken. */
  constructor(readonly onOver: () => void) {}

  /** Whether it has been seen. */
  get over(): boolean {
    return this.#state === "over";
  }

  /** Something else takes the keys. */
  begin(): void {
    this.end();
    this.#state = "new";
  }

  /** It has been drawn. */
  drawn(): void {
    if (this.#state === "new") this.#wait();
  }

  /** A key came: the person still types what they were typing. */
  goOn(): void {
    if (this.#state === "shown") this.#wait();
  }

  /** Nothing has to be seen any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#state = "over";
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#state = "shown";
    this.#timer = setTimeout(() => {
      this.#state = "over";
      this.onOver();
    }, FIRST_LOOK);
  }
}
