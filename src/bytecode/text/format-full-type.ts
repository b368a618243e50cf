import { formatDim } from '../../core/dims/dim.ts';
import { formatShape } from '../../core/tensor/shape.ts';
import type { FullType } from '../executable.ts';

/** A type as programs write it, for messages: `List[Tensor[(n,), float32]]`. */
export function formatFullType(type: FullType): string {
  switch (type.kind) {
    case 'tensor':
      return `Tensor[${formatShape(type.shape.map(formatDim))}, ${type.dtype}]`;
    case 'tuple': {
      const fields = type.fields.map(formatFullType).join(', ');
      return type.fields.length === 1 ? `(${fields},)` : `(${fields})`;
    }
    case 'adt':
      return type.args.length === 0
        ? type.name
        : `${type.name}[${type.args.map(formatFullType).join(', ')}]`;
    case 'function':
      return `fn (${type.params.map(formatFullType).join(', ')}) -> ${formatFullType(type.result)}`;
    case 'type-param':
      return type.name;
    case 'opaque':
      return `Opaque[${type.name}]`;
    default:
      return type.kind;
  }
}
