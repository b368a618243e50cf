import { expect, test } from 'vitest';
import { operatorTable } from '../../ops/testing/operator-table.ts';
import { TESTED_OPS } from '../../ops/testing/tested-ops.ts';
import { onnxOperatorTable } from './testing/onnx-operator-table.ts';
import { MICROSOFT, PREVIEW, TRAINING } from './model/operator-sets.ts';

test('the page of operators is up to date', async () => {
  const page = `# Operators

<!-- Generated from the tables of importers and of operators by src/frontend/onnx/operators-document.test.ts (-u); do not edit. -->

This page lists the operators of ONNX models that Weft imports, and the [core operators](#core-operators) of which
programs are made.

## ONNX

These are the operators of the domain \`ai.onnx\`, with the operator sets (opsets) in which they exist. Every
version of an operator is imported. \`made of\` names the core operators that it becomes. If they are several, the
compiler fuses them again where it can, and the types are those of the first. Types of the fourth column, float64
among them, run on the host; the compiler reports each such node with the reason. [onnx.md](onnx.md) is about graphs,
control flow, functions and external data.

${onnxOperatorTable('')}

### com.microsoft

${onnxOperatorTable(MICROSOFT)}

### ai.onnx.preview

${onnxOperatorTable(PREVIEW)}

### ai.onnx.preview.training

[training.md](training.md#onnx) explains these operators.

${onnxOperatorTable(TRAINING)}

### Not imported

A model with one of these is refused before anything runs, with the name of each such node:

- strings, maps, images, and the domain \`ai.onnx.ml\`;
- operators of \`com.microsoft\` that only GPUs of one vendor read: \`QOrdered…\`, \`PackedAttention\`, \`PagedAttention\`,
  \`SparseAttention\`;
- whole searches of \`com.microsoft\`: \`BeamSearch\`, \`GreedySearch\`, \`Sampling\`;
- some inputs and attributes of operators above: \`cu_seqlens\` and compact updates of GatedDeltaNet, \`token_offset\` of
  GatedRelativePositionBias, \`cache_indirection\` of DecoderMaskedMultiHeadAttention, and \`use_sparse_mixer\`.

### Random operators

\`Bernoulli\`, \`Multinomial\`, \`RandomNormal\`, \`RandomUniform\`, \`RandomNormalLike\` and \`RandomUniformLike\` draw from
Threefry-2x32. The numbers follow from the \`seed\` and from the node's place among random nodes, so they are the same in
each run and on each device. In a training program each step has other numbers.

## Core operators

Every operator runs on the host device in the dtypes listed. On WebGPU it runs in those that are float32, float16, bool
or integers of 8 to 64 bits, which the table calls \`every kernel type\`. There an int64 takes two words and is computed
exactly; float16 and small integers are bit-packed. A \`?\` marks an input that may be absent, \`...\` one that repeats.
The tolerance is the largest difference that a device may have from the reference, which sums in double precision and
rounds once. [write-an-operator.md](write-an-operator.md) explains the kinds: they say how an operator fuses.

${operatorTable(TESTED_OPS.values())}
`;
  await expect(page).toMatchFileSnapshot('../../../docs/operators.md');
});
