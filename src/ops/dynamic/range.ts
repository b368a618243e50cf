import { stringAttribute } from '../attributes.ts';
import { commonDType, present, requireSingle } from '../operand-checks.ts';
import { COMPARED_DTYPES } from './compared-elements.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';

const DTYPES = COMPARED_DTYPES.filter((dtype) => dtype !== 'bool');

/** start, start + delta, start + 2 delta, … as far as they lie before limit. */
export const range = defineDynamicOp({
  name: 'range',
  inputs: ['start', 'limit', 'delta'].map((name) => ({ name, dtypes: DTYPES })),
  attributes: { where: { type: 'string', default: 'range' } },
  infer(inputs, attributes, dims) {
    const where = stringAttribute(attributes, 'where');
    const complaint = () => ({
      where,
      got: 'a bound of several elements',
      expected: 'single elements',
    });
    requireSingle(present(inputs), dims, complaint);
    return { dtype: commonDType(present(inputs), where), shape: [dims.unknown()] };
  },
});
