import { expect, test } from 'vitest';
import { operatorTable } from '../../ops/testing/operator-table.ts';
import { TESTED_OPS } from '../../ops/testing/tested-ops.ts';
import { onnxOperatorTable } from './testing/onnx-operator-table.ts';
import { MICROSOFT, PREVIEW, TRAINING } from './operator-sets.ts';

test('the page of operators is up to date', async () => {
  const page = `# Operators

Written by \`src/frontend/onnx/operators-document.test.ts\` from the tables of importers and of
operators; \`npx vitest run src/frontend/onnx/operators-document.test.ts -u\` renews it.

## ONNX

Operators of the domain \`ai.onnx\`, with the operator sets in which they exist. Every version of an
operator is imported. \`made of\` names core operators (below): one is a kernel, several are a
composition, which the compiler fuses again where it can; the first decides the types. float64 and the
types of the fourth column run on the host; the compiler reports each such node with the reason.
[onnx.md](onnx.md) tells of graphs, control flow, functions and external data.

${onnxOperatorTable('')}

### com.microsoft

${onnxOperatorTable(MICROSOFT)}

### ai.onnx.preview

${onnxOperatorTable(PREVIEW)}

### ai.onnx.preview.training

[training.md](training.md#onnx) tells of them.

${onnxOperatorTable(TRAINING)}

Not imported: strings, maps, images, and the domain \`ai.onnx.ml\`. Of
\`com.microsoft\` what only a GPU of one vendor reads (\`QOrdered…\`, \`PackedAttention\`, \`PagedAttention\`,
\`SparseAttention\`), whole searches (\`BeamSearch\`, \`GreedySearch\`, \`Sampling\`), and of operators above
GatedDeltaNet's \`cu_seqlens\` and compact updates, GatedRelativePositionBias' \`token_offset\`, the
\`cache_indirection\` of DecoderMaskedMultiHeadAttention, and \`use_sparse_mixer\`. A model with one of them is refused
before anything runs, with the name of each such node.

Random operators (\`Bernoulli\`, \`Multinomial\`, \`RandomNormal\`, \`RandomUniform\` and those like an input) draw from Threefry-2x32:
the numbers are those of the \`seed\` and of the node's place among random nodes, the same in each run and on each device. In a
training program each step has others.

## Core operators

Every operator runs on the host device in the dtypes listed; on WebGPU in those of them that are
float32, float16, bool or integers of 8 to 64 bits. There an int64 is two words and computed exactly;
float16 and small integers are bit-packed. \`every kernel type\` are all of these. A \`?\` marks an
input that may be absent, \`...\` one that repeats. The tolerance is what a device may differ by from
the reference, which sums in double precision and rounds once.

Kinds: \`elementwise\` ones broadcast and fuse in any number; \`injective\` ones fuse as index maps;
an \`anchor\` or \`reduction\` has kernels of its own, and a primitive function is built around one;
a \`dynamic\` one runs on the host and makes a result whose size depends on elements.

${operatorTable(TESTED_OPS.values())}
`;
  await expect(page).toMatchFileSnapshot('../../../docs/operators.md');
});
