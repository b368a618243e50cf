import source from '../../../shaders/lib/long-sum.wgsl?raw';
import type { KernelSpec } from '../lowering/lowering.ts';

/** A sum of up to so many rounds is added up in one piece. */
export const LONG_ROUNDS = 128;

/** The same of a row, in elements. */
export const LONG_ROW = 1024;

const SHORT = `var<private> block_count: u32;
var<private> rounds: u32;
fn no_part() -> Part { return Part(); }
fn ends_block() -> bool { return false; }
fn keep_block(part: Part) {}
fn after_round(part: Part) -> Part { return part; }
fn join_blocks(part: Part) -> Part { return part; }
`;

/**
 * The functions `after_round` and `join_blocks` of a kernel that adds up parts of type `Part` in so many rounds, and the
 * constant `IS_LONG`. `noPart` is the expression of a part that has nothing.
 */
export function longSum({
  isLong,
  noPart,
  block = 32,
}: {
  isLong: boolean;
  noPart: string;
  block?: number;
}): Required<Pick<KernelSpec, 'source' | 'constants'>> {
  return {
    source: isLong ? `fn no_part() -> Part { return ${noPart}; }\n${source}` : SHORT,
    constants: { IS_LONG: isLong, BLOCK: block },
  };
}
