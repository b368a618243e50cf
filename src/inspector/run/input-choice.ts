import { html, type TemplateResult } from 'lit-html';
import type { Inputs } from '../../client/values/input-value.ts';
import { numbersToChoose, randomInputs } from '../../client/values/random-inputs.ts';
import type { Session } from '../../client/session.ts';
import { seededRandom } from '../../core/random.ts';

/** Inputs of a session: those of its page, or random ones, whose sizes a person chooses. */
export class InputChoice {
  readonly #given: Inputs | undefined;
  readonly #chosen = new Map<string, number>();

  constructor(given: Inputs | undefined) {
    this.#given = given;
  }

  get isRandom(): boolean {
    return this.#given === undefined;
  }

  /** The same each time. Throws for an input that can be anything. */
  inputs(session: Session): Inputs {
    return this.#given ?? randomInputs(session.inputs, this.#chosen, seededRandom(1));
  }

  /** A field for each size and number. */
  fields(session: Session): TemplateResult[] {
    const names = this.isRandom ? numbersToChoose(session.inputs) : [];
    return names.map(
      (name) => html`<label
        >${name}
        <input
          type="number"
          min="0"
          value="1"
          @input=${(event: Event) =>
            this.#chosen.set(name, Number((event.target as HTMLInputElement).value))}
      /></label>`,
    );
  }
}
