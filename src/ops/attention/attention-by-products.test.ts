import { expect, test } from 'vitest';
import { plannerCaps } from '../../testing/planner-caps.ts';
import { inferConcreteCall } from '../infer-concrete-call.ts';
import { attentionByProducts } from './attention-by-products.ts';
import { attentionProblem } from './attention-problem.ts';
import { scaledDotProductAttention } from './scaled-dot-product-attention.ts';

test.each([
  [8, 4],
  [7, 1],
])('softmax of %i keys reads and stores %i at a time', (keys, width) => {
  const inputs = [3, keys, keys].map((rows) => ({
    dtype: 'float32' as const,
    shape: [1, 2, rows, 4],
  }));
  const call = inferConcreteCall(scaledDotProductAttention, inputs, {});
  const caps = plannerCaps('software');
  const kernels = attentionByProducts(attentionProblem({ ...call, inputs, caps }));
  const softmax = kernels.find(({ name }) => name === 'attention-softmax');
  expect(softmax?.reads.map((read) => [read.hook, read.width])).toEqual([['scores', width]]);
  expect(softmax?.writes.map((write) => write.width)).toEqual([width]);
  expect(softmax?.constants).toMatchObject({ IS_WHOLE: width === 4 });
});
