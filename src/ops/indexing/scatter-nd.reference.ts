import { stringAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import { tuplePlaces } from './gather-nd.reference.ts';
import { hostIntegers } from './integer-index.reference.ts';
import { scatterOnHost } from './scatter-reduction.reference.ts';
import { tuplesOf } from './scatter-nd.ts';
import type { StaticReference } from '../op-reference.ts';

export const scatterNdReference: StaticReference = {
  reference(inputs, attributes, output) {
    const indices = operand(inputs, 1);
    const { sizes, count, run } = tuplesOf(output.shape, indices.shape);
    const rows = tuplePlaces(hostIntegers(indices), sizes, count);
    const [x, updates] = [operand(inputs, 0), operand(inputs, 2)];
    const reduction = stringAttribute(attributes, 'reduction');
    scatterOnHost({ x, updates, reduction, run, rows }, output);
  },
};
