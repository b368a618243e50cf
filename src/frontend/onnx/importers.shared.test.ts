import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sharedPath } from '../../testing/files/shared-path.ts';
import { canonicalDomain } from './model/operator-sets.ts';
import { IMPORTERS } from './operators/index.ts';
import { readMessage } from './protobuf/read-message.ts';
import { unlistedOperators } from './testing/unlisted-operators.ts';

test.each(['onnx/node', 'onnx/training', 'onnx/sequence', 'onnx/preview'])(
  'operators of %s become what their importers say',
  (of) => {
    const folder = sharedPath(of);
    const unlisted = new Set<string>();
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(`${folder}/${name}/model.onnx`);
      const nodes = readMessage('ModelProto', bytes).graph?.node ?? [];
      const [operator = '', ...others] = new Set(nodes.map(({ opType }) => opType ?? ''));
      const entry = IMPORTERS.get(canonicalDomain(nodes[0]?.domain))?.get(operator);
      if (others.length > 0 || entry === undefined || nodes.some(hasSubgraph)) continue;
      for (const core of unlistedOperators(bytes, entry.makes).unlisted) {
        unlisted.add(`${operator}: ${core}`);
      }
    }
    expect([...unlisted]).toEqual([]);
  },
);

function hasSubgraph({ attribute }: { readonly attribute: readonly { g?: unknown }[] }): boolean {
  return attribute.some(({ g }) => g !== undefined);
}
