import { isFloat } from '../../ops/elementwise/number-dtypes.ts';
import { type Type, UNIT_TYPE } from './type.ts';

/**
 * The type of a value's cotangents and tangents: that of the value for tensors of floats and for data,
 * whose fields that are no floats stay as they are; `()` for all other values; tuples of those.
 */
export function cotangentType(type: Type): Type {
  switch (type.kind) {
    case 'tensor':
      return isFloat(type.dtype) ? type : UNIT_TYPE;
    case 'tuple':
      return { kind: 'tuple', fields: type.fields.map(cotangentType) };
    case 'adt':
    case 'type-var':
      return type;
    case 'function':
    case 'scalar':
      return UNIT_TYPE;
    default:
      return type satisfies never;
  }
}
