import { OpaqueValue } from '../../core/contracts/opaque-value.ts';
import type { CallPage, WireForms } from '../protocol/wire-value.ts';

/** An object of the page, which stays there: a program in the worker holds its number. */
export class PageObject extends OpaqueValue {
  readonly wire: WireForms['opaque'];

  constructor(wire: WireForms['opaque'], callPage: CallPage | undefined) {
    super(wire.name, undefined);
    this.wire = wire;
    DROPPED.register(this, () => callPage?.('', [wire], { kind: 'drop' }));
  }
}

/** Tells the page that nothing here holds an object any more. */
const DROPPED = new FinalizationRegistry<() => unknown>((tell) => tell());
