/** The checks of a demonstration, printed line by line. */
export class Checks {
  #failed = 0;
  #count = 0;

  /** A heading, over lines that say what was expected. */
  section(title: string): void {
    console.log(`\n${title}`);
  }

  /** A line about something that has to hold. */
  check(isGood: boolean, text: string): void {
    this.#count++;
    if (!isGood) this.#failed++;
    console.log(`${isGood ? 'ok    ' : 'FAILED'} ${text}`);
  }

  /** A line that only tells. */
  note(text: string): void {
    console.log(`       ${text}`);
  }

  /** The last line, and the exit status. */
  end(): number {
    const held = this.#count - this.#failed;
    console.log(`\n${held} of ${this.#count} held.`);
    return this.#failed === 0 && this.#count > 0 ? 0 : 1;
  }
}
