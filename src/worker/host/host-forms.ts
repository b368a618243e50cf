import { FloatValue, ShapeValue } from '../../runtime/values/value.ts';
import type { WireForms } from '../protocol/wire-value.ts';

/** Values without tensors, functions and fields, from the wire to what a machine takes. */
export const HOST_FORMS = {
  null: () => null,
  int: ({ value }: WireForms['int']) => value,
  float: ({ value }: WireForms['float']) => new FloatValue(value),
  string: ({ value }: WireForms['string']) => value,
  shape: ({ value }: WireForms['shape']) => new ShapeValue(value),
};
