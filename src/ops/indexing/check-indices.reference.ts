import { RuntimeError } from '../../core/errors.ts';
import { describeStray, findStrayIndex } from '../../core/index-checks.ts';
import { dimsAttribute, intAttribute, stringAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import type { StaticReference } from '../op-reference.ts';

export const checkIndicesReference: StaticReference = {
  reference(inputs, attributes, output) {
    const indices = operand(inputs, 0);
    const stray = findStrayIndex(indices.data, {
      lower: dimsAttribute(attributes, 'lower').map(Number),
      below: dimsAttribute(attributes, 'below').map(Number),
      except: intAttribute(attributes, 'except'),
    });
    if (stray !== undefined) {
      const where = stringAttribute(attributes, 'where');
      throw new RuntimeError({ where, ...describeStray(stray, indices.shape) });
    }
    output.bytes.set(indices.bytes);
  },
};
