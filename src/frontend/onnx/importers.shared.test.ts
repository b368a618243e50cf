import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { postOrder } from '../../compiler/ir/visit.ts';
import { sharedPath } from '../../testing/files/shared-path.ts';
import { importOnnx } from './import-onnx.ts';
import { IMPORTERS } from './operators/index.ts';
import { readMessage } from './protobuf/read-message.ts';

/** Operators by which importers read sizes, and those of the graph's own nodes. */
const PLUMBING = /(^|_)sizes$|^(dims_tensor|signed_sizes|slice_indices|int_.*|dim|constant)$/;

test('operators of the ONNX cases become what their importers say', () => {
  const folder = sharedPath('onnx/node');
  const unlisted = new Set<string>();
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(`${folder}/${name}/model.onnx`);
    const nodes = readMessage('ModelProto', bytes).graph?.node ?? [];
    const [operator = '', ...others] = new Set(nodes.map(({ opType }) => opType ?? ''));
    const entry = IMPORTERS.get('')?.get(operator);
    if (others.length > 0 || entry === undefined || nodes.some(hasSubgraph)) continue;
    const listed = new Set(entry.makes.split(' '));
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
