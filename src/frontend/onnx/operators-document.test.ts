import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { postOrder } from '../../compiler/ir/visit.ts';
import { operatorTable } from '../../ops/operator-table.ts';
import { OPS } from '../../ops/registry.ts';
import { importOnnx } from './import-onnx.ts';
import { onnxOperatorTable } from './onnx-operator-table.ts';
import { ONNX_CATALOGUE } from './operator-catalogue.ts';
import { MICROSOFT_IMPORTERS, ONNX_IMPORTERS } from './operators/index.ts';
import { readMessage } from './protobuf/read-message.ts';

const CASES = fileURLToPath(new URL('../../../../shared/onnx/node', import.meta.url));

/** What importers read sizes with, and what one of the graph's own nodes stands for. */
const PLUMBING = /(^|_)sizes$|^(dims_tensor|signed_sizes|slice_indices|int_.*|dim|constant)$/;

test('the catalogue lists the operators that can be imported', () => {
  expect(Object.keys(ONNX_CATALOGUE)).toEqual([...ONNX_IMPORTERS.keys()].sort());
});

test('operators of the ONNX cases become what the catalogue says', () => {
  if (!existsSync(CASES)) throw new Error(`This test reads ${CASES}, which is not there.`);
  const unlisted = new Set<string>();
  for (const name of readdirSync(CASES)) {
    const bytes = readFileSync(`${CASES}/${name}/model.onnx`);
    const nodes = readMessage('ModelProto', bytes).graph?.node ?? [];
    const [operator = '', ...others] = new Set(nodes.map(({ opType }) => opType ?? ''));
    const entry = ONNX_CATALOGUE[operator];
    if (others.length > 0 || entry === undefined || nodes.some(hasSubgraph)) continue;
    const listed = new Set(entry[1].split(' '));
    for (const used of coreOperators(bytes)) {
      if (!listed.has(used) && !PLUMBING.test(used)) unlisted.add(`${operator}: ${used}`);
    }
  }
  expect([...unlisted]).toEqual([]);
});

function hasSubgraph({ attribute }: { readonly attribute: readonly { g?: unknown }[] }): boolean {
  return attribute.some(({ g }) => g !== undefined);
}

function coreOperators(bytes: Uint8Array): readonly string[] {
  const names = new Set<string>();
  for (const fn of importOnnx(bytes).functions.values()) {
    for (const expr of postOrder(fn.body)) {
      if (expr.kind === 'call' && expr.callee.kind === 'operator') names.add(expr.callee.name);
    }
  }
  return [...names];
}

test('the page of operators is up to date', async () => {
  const microsoft = [...MICROSOFT_IMPORTERS.keys()].sort();
  const page = `# Operators

Written by \`src/frontend/onnx/operators-document.test.ts\` from the tables of importers and of
operators; \`npx vitest run src/frontend/onnx/operators-document.test.ts -u\` renews it.

## ONNX

Operators of the domain \`ai.onnx\`, with the operator sets in which they exist. Every version of an
operator is imported. \`made of\` names core operators (below): one is a kernel, several are a
composition, which the compiler fuses again where it can; the first decides the types. float64 and the
types of the fourth column run on the host; the compiler reports each such node with the reason.
[onnx.md](onnx.md) tells of graphs, control flow, functions and external data.

${onnxOperatorTable(ONNX_CATALOGUE)}

Of the domain \`com.microsoft\`: ${microsoft.map((name) => `\`${name}\``).join(', ')}.

Not imported: strings, sequences, optional values, maps, random generators, images, and the domains
\`ai.onnx.ml\` and \`ai.onnx.preview.training\`. A model with one of them is refused before anything
runs, with the name of each such node.

## Cases that fail

Of ONNX's 1,076 backend cases beside this repository, three fail on either device, each refused with
the reason before anything runs:

- \`test_bernoulli_expanded\` holds a RandomUniformLike, whose numbers no two runtimes share;
- \`test_sequence_map_identity_1_sequence_expanded\` and
  \`test_sequence_map_identity_2_sequences_expanded\` take sequences of tensors as inputs.

## Core operators

Every operator runs on the host device in the dtypes listed; on WebGPU in those of them that are
float32, float16, bool or integers of 8 to 64 bits. There an int64 is two words and computed exactly;
float16 and small integers are packed. \`every kernel type\` are all of these. A \`?\` marks an
input that may be absent, \`...\` one that repeats. The tolerance is what a device may differ by from
the reference, which sums in double precision and rounds once.

Kinds: \`elementwise\` ones broadcast and fuse in any number; \`injective\` ones fuse as index maps;
an \`anchor\` or \`reduction\` has kernels of its own, and a primitive function is built around one;
a \`dynamic\` one runs on the host and makes a result whose size depends on elements.

${operatorTable(OPS.values())}
`;
  await expect(page).toMatchFileSnapshot('../../../docs/operators.md');
});
