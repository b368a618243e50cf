import { type Dim, DIM_SIGNS } from '../../../core/dims/dim.ts';
import { isPlainName } from './lexer.ts';
import type { Type } from '../type.ts';

/** A type as it stands in a text; differs from `formatType` in that odd names are quoted. */
export function printType(type: Type): string {
  switch (type.kind) {
    case 'tensor':
      return `Tensor[${list(type.shape.map(printDim))}, ${type.dtype}]`;
    case 'tuple':
      return list(type.fields.map(printType));
    case 'function': {
      const params = type.params.map(printType).join(', ');
      return `fn${printTypeParams(type.typeParams)} (${params}) -> ${printType(type.result)}`;
    }
    case 'adt': {
      const args = type.args.map(printType).join(', ');
      return args === '' ? printName(type.name) : `${printName(type.name)}[${args}]`;
    }
    case 'type-var':
      return printName(type.name);
    case 'scalar':
      return type.scalar;
    default:
      return type satisfies never;
  }
}

/** Type parameters as text, such as `<A, B>`; empty where there are none. */
export function printTypeParams(names: readonly string[] = []): string {
  return names.length === 0 ? '' : `<${names.map(printName).join(', ')}>`;
}

/** A name as it stands in a text: quoted when it is not plain. */
export function printName(name: string): string {
  return isPlainName(name) ? name : JSON.stringify(name);
}

/** `(a, b)`, `(a,)`, `()` */
export function list(items: readonly string[]): string {
  return items.length === 1 ? `(${items[0]},)` : `(${items.join(', ')})`;
}

/** Not the numbers of attributes, which stand where dimensions do. */
const PLAIN_SYMBOL = /^(?:\?|(?!(?:nan|inf)$)[A-Za-z_][A-Za-z0-9_.]*)$/;

/** A dimension as it stands in a text. */
export function printDim(dim: Dim): string {
  if (typeof dim === 'number') return String(dim);
  if (typeof dim === 'string') {
    return PLAIN_SYMBOL.test(dim) ? dim : JSON.stringify(dim);
  }
  const left = printDim(dim.left);
  const right = printDim(dim.right);
  const sign = DIM_SIGNS[dim.op];
  return sign === undefined ? `${dim.op}(${left}, ${right})` : `(${left} ${sign} ${right})`;
}
