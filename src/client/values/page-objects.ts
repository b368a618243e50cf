import { UsageError } from '../../core/errors.ts';
import type { OpaqueValue } from '../../core/contracts/opaque-value.ts';
import type { WireForms } from '../../worker/protocol/wire-value.ts';

/** Objects of the page that the programs of one session hold. Each goes there under a number of its own. */
export class PageObjects {
  static #lastId = 0;
  readonly #objects = new Map<number, OpaqueValue>();

  /** How many a program may still hold. */
  get size(): number {
    return this.#objects.size;
  }

  /** A new number each time: the worker may be about to drop an earlier one. */
  wire(object: OpaqueValue): WireForms['opaque'] {
    const id = ++PageObjects.#lastId;
    this.#objects.set(id, object);
    return { kind: 'opaque', name: object.name, id };
  }

  get({ id, name }: WireForms['opaque']): OpaqueValue {
    const object = this.#objects.get(id);
    if (object !== undefined) return object;
    throw new UsageError(`The session does not hold the opaque value ${JSON.stringify(name)}.`);
  }

  drop({ id }: WireForms['opaque']): void {
    this.#objects.delete(id);
  }
}

const OF_SESSIONS = new WeakMap<object, PageObjects>();

/** Objects of the page that went to the program of a session. */
export function pageObjectsOf(session: object): PageObjects {
  const known = OF_SESSIONS.get(session) ?? new PageObjects();
  OF_SESSIONS.set(session, known);
  return known;
}

/** Gives a session the objects that went to its program before it was loaded. */
export function givePageObjects(session: object, objects: PageObjects): void {
  OF_SESSIONS.set(session, objects);
}
