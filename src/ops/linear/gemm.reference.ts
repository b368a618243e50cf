import type { HostTensor } from '../../core/host-tensor.ts';
import { boolAttribute, floatAttribute } from '../attributes.ts';
import { broadcastStrides } from '../elementwise/gather-broadcast.ts';
import { floatElements } from '../elements.ts';
import { multiplyMatrices, packStrided } from './matrix-product.ts';
import { operand } from '../operand-checks.ts';
import { gemmSizes } from './gemm.ts';
import type { StaticReference } from '../op-reference.ts';

export const gemmReference: StaticReference = {
  reference(inputs, attributes, output) {
    const a = operand(inputs, 0);
    const b = operand(inputs, 1);
    const c = inputs[2];
    const { m, n, aDepth: k } = gemmSizes(a, b, attributes);
    const alpha = floatAttribute(attributes, 'alpha');
    const beta = floatAttribute(attributes, 'beta');
    const aStrides = boolAttribute(attributes, 'trans_a') ? [1, m] : [k, 1];
    const bStrides = boolAttribute(attributes, 'trans_b') ? [k, 1] : [1, n];
    const bias = c === undefined ? undefined : floatElements(c);
    const [rowStride = 0, columnStride = 0] = broadcastStrides(c?.shape ?? [], [m, n]);
    const target = floatElements(output);
    multiplyMatrices({
      m,
      n,
      k,
      packA: packMatrix(a, aStrides),
      packB: packMatrix(b, bStrides),
      store(row, column, sum) {
        const added = bias?.[row * rowStride + column * columnStride] ?? 0;
        target[row * n + column] = alpha * sum + beta * added;
      },
    });
  },
};

function packMatrix(tensor: HostTensor, [laneStride = 1, depthStride = 1]: readonly number[]) {
  return packStrided({ elements: floatElements(tensor), offset: 0, laneStride, depthStride });
}
