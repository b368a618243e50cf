import { requireKind } from '../core/check-options.ts';
import type { Attributes } from '../core/contracts/primitive-function.ts';
import { apply } from './apply.ts';
import { placeOf, within } from './call-site.ts';
import { type NdArray, wrap } from './nd-array.ts';
import type { Operand } from './operand.ts';

/** An operator of the table as a function of its operands and, last, its attributes. */
export function operator(name: string): (...args: readonly unknown[]) => NdArray {
  const call = (...args: readonly unknown[]): NdArray =>
    within(call, () => {
      const last = args.at(-1);
      const hasAttributes = isAttributes(last);
      const operands = hasAttributes ? args.slice(0, -1) : args;
      const attributes = hasAttributes ? snakeCased(last) : {};
      return wrap(apply(name, operands as readonly (Operand | undefined)[], attributes));
    });
  return call;
}

/** An operator whose operands are a list. */
export function variadic(name: string): (...args: readonly unknown[]) => NdArray {
  const call = (...args: readonly unknown[]): NdArray => {
    const [operands, attributes = {}] = args;
    const work = (): NdArray => {
      requireKind(placeOf(name), 'list', ['operands that are', operands]);
      requireKind(placeOf(name), 'object', ['attributes', attributes]);
      const list = operands as readonly Operand[];
      return wrap(apply(name, list, snakeCased(attributes as Attributes)));
    };
    return within(call, work, [name, args, 2]);
  };
  return call;
}

function isAttributes(value: unknown): value is Attributes {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** Attributes have names such as `keep_dims` in programs. */
function snakeCased(attributes: Attributes): Attributes {
  const entries = Object.entries(attributes).map(([name, value]) => {
    const written = name === 'keepDims' ? 'keepdims' : name;
    return [written.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value] as const;
  });
  return Object.fromEntries(entries);
}
