import { ALL_DTYPES, type DType } from '../../../core/tensor/dtype.ts';
import type { OpDefinition } from '../../../ops/define-op.ts';
import { describeDTypes } from '../../../ops/testing/describe-dtypes.ts';
import { KERNEL_DTYPES } from '../../../ops/lowering/placement.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { MAX_OPSET } from '../model/operator-sets.ts';
import { IMPORTERS } from '../operators/index.ts';

/** Operators of a domain as the Markdown table of `docs/operators.md`. */
export function onnxOperatorTable(domain: string): string {
  const importers = [...(IMPORTERS.get(domain) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  const last = domain === '' ? MAX_OPSET : 1;
  const rows = importers.map(([name, { since, makes }]) => {
    const names = makes === '' ? [] : makes.split(' ');
    const [first] = names;
    const types =
      first === undefined ? { gpu: '', host: '' } : typesOf(CORE_OPERATORS.require(first));
    const opsets = since === last ? `${since}` : `${since}–${last}`;
    const cells = [name, opsets, types.gpu, types.host, describe(names)];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| operator | opsets | types on WebGPU | types on the host only | made of |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function describe(names: readonly string[]): string {
  const [first, ...rest] = names.map((name) => `\`${name}\``);
  if (first === undefined) return 'the graph';
  return rest.length === 0 ? first : `${first} with ${rest.join(', ')}`;
}

function typesOf(op: OpDefinition): { readonly gpu: string; readonly host: string } {
  const accepted = new Set<DType>(op.inputs[0]?.dtypes ?? ALL_DTYPES);
  const isOnGpu = (dtype: DType): boolean =>
    op.hostOnlyBecause === undefined && op.kind !== 'dynamic' && KERNEL_DTYPES.has(dtype);
  const [gpu, host] = [true, false].map((wanted) =>
    describeDTypes(new Set([...accepted].filter((dtype) => isOnGpu(dtype) === wanted))),
  );
  return { gpu: gpu ?? '', host: host ?? '' };
}
