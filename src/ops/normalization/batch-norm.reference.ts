import { elementCount } from '../../core/shape.ts';
import { floatAttribute } from '../attributes.ts';
import { floatElements } from '../elements.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

export const batchNormReference: StaticReference = {
  reference(inputs, attributes, output) {
    const [x, scale, bias, mean, variance] = Array.from({ length: 5 }, (_, i) =>
      floatElements(operand(inputs, i)),
    );
    const y = floatElements(output);
    const epsilon = floatAttribute(attributes, 'epsilon');
    const channels = output.shape[1] ?? 0;
    const spatial = elementCount(output.shape.slice(2));
    const blocks = elementCount(output.shape.slice(0, 2));
    for (let block = 0; block < blocks; block++) {
      const c = block % channels;
      const factor = (scale?.[c] ?? 0) / Math.sqrt((variance?.[c] ?? 0) + epsilon);
      const [shift, middle] = [bias?.[c] ?? 0, mean?.[c] ?? 0];
      const end = (block + 1) * spatial;
      for (let i = block * spatial; i < end; i++) y[i] = ((x?.[i] ?? 0) - middle) * factor + shift;
    }
  },
};
