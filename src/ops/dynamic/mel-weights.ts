import { stringAttribute } from '../attributes.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';
import { INTEGERS } from './integers.ts';
import { present, requireSingle } from '../operand-checks.ts';

/** Triangles over a spectrum, at equal distances on the mel scale. */
export const melWeights = defineDynamicOp({
  name: 'mel_weights',
  inputs: [
    ...['mel_bins', 'dft_length', 'sample_rate'].map((name) => ({ name, dtypes: INTEGERS })),
    ...['lower', 'upper'].map((name) => ({ name, dtypes: ['float32'] as const })),
  ],
  attributes: { where: { type: 'string', default: 'mel_weights' } },
  infer(inputs, attributes, dims) {
    const where = stringAttribute(attributes, 'where');
    const complaint = () => ({ where, got: 'several elements', expected: 'single elements' });
    requireSingle(present(inputs), dims, complaint);
    return { dtype: 'float32', shape: [dims.unknown(), dims.unknown()] };
  },
});
