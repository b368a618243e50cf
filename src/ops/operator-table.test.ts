import { expect, test } from 'vitest';
import { operatorTable } from './operator-table.ts';
import { OPS } from './registry.ts';

test('the table of operators is up to date', async () => {
  const page = `# Operators

Written by \`src/ops/operator-table.test.ts\` from the entries in \`src/ops/\`; \`npx vitest run src/ops -u\` renews it.

Every operator runs on the host device in the dtypes listed; on WebGPU in those of them that are
float32, int32, uint32, int64 or bool. There an int64 is two words, moved and cast exactly.
\`every dtype\`: the operator only moves data, and on the host moves any. A \`?\` marks an input that may be absent, \`...\` one that repeats. Two inputs of one operator have
one dtype, except the condition of \`where\`. The tolerance is what a device may differ by from the
reference, which sums in double precision and rounds once.

Kinds: \`elementwise\` ones broadcast and fuse in any number; \`injective\` ones fuse as index maps;
an \`anchor\` or \`reduction\` has kernels of its own, and a primitive function is built around one.

${operatorTable(OPS.values())}
`;
  await expect(page).toMatchFileSnapshot('../../docs/operators.md');
});
