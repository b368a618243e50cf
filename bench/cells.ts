import { type CasePlan, type Peer, PEERS, type RunName } from './cases/bench-case.ts';
import type { Method } from './methods.ts';
import { type Lab, pageKind } from './lab.ts';
import { REGISTER_OPERATIONS } from './page/register-operations.ts';
import type { RuntimeResult, WarmResults } from './race.ts';

/** A ratio of Weft beside what was promised. */
export interface Cell {
  readonly against: Peer | Standard;
  /** How many times as fast Weft is; of a ceiling, its share. */
  readonly ratio: number;
  readonly target: number | undefined;
  /** The ratio that the floor would have. */
  readonly most: number;
  /** As a share of the speed of the floor. */
  readonly floorShare: number;
  readonly isReached: boolean;
  /** Misses its target by so little that it is measured again. */
  readonly isClose: boolean;
  /** True if it is the best of several measurements. */
  readonly isBest: boolean;
  /** True if the outputs are too far from the published ones, or from Weft's. */
  readonly differs: boolean;
}

/** Standards that Weft is compared with besides other runtimes. */
const STANDARDS = ['ceiling', 'float32', 'oneThread', 'memory'] as const;
export type Standard = (typeof STANDARDS)[number];

/** Where products of bytes are less fast than that, theirs are only to be no slower than float32. */
const FAST_BYTES = 1.4;

type Timed = Extract<RuntimeResult, { readonly ms: number }>;

/** Returns true if outputs are too far from the published ones, or from Weft's. */
export function differs(result: RuntimeResult): boolean {
  return 'difference' in result && !((result.difference ?? 0) <= result.tolerance);
}

/** Milliseconds of one that ran. */
export function timeOf(results: WarmResults, name: RunName): number | undefined {
  const result = results[name];
  return result !== undefined && 'ms' in result ? result.ms : undefined;
}

/** Rates of the processor in the page of a case, in 10^9 operations per second. */
export function rateOf(
  results: WarmResults,
  name: keyof typeof REGISTER_OPERATIONS,
): number | undefined {
  const ms = timeOf(results, name);
  return ms === undefined ? undefined : REGISTER_OPERATIONS[name] / ms / 1e6;
}

/** Weft's run that is compared with a peer's: with data where the peer has them. */
const weftFor = (
  peer: Peer,
  { residentPeers }: Method,
  { isTraining = false }: CasePlan,
): RunName => (residentPeers.includes(peer) && !isTraining ? 'weft-resident' : 'weft');

/** Every ratio of a case, with its verdict. */
export function cellsOf(lab: Lab, plan: CasePlan, results: WarmResults): Cell[] {
  const { method } = lab;
  const floorMs = timeOf(results, 'floor') ?? Number.NaN;
  const peers = PEERS.flatMap((peer) => {
    const [weft, other] = [results[weftFor(peer, method, plan)], results[peer]];
    if (!isTimed(weft) || !isTimed(other)) return [];
    const ratio = other.ms / weft.ms;
    const floor = { most: other.ms / floorMs, floorShare: floorMs / weft.ms };
    return [
      judge(method, { against: peer, ratio, target: plan.targets[peer], ...floor }, differs(other)),
    ];
  });
  return [...peers, ...standards(lab, plan, results)];
}

function standards(lab: Lab, { targets, work }: CasePlan, results: WarmResults): Cell[] {
  const resident = timeOf(results, 'weft-resident') ?? Number.NaN;
  const sums = rateOf(results, 'multiply-adds') ?? Number.NaN;
  const bytes = rateOf(results, 'byte-products') ?? Number.NaN;
  const float32Target = bytes / sums >= FAST_BYTES ? targets.float32 : 1;
  const flops = work !== undefined && 'flops' in work ? work.flops : Number.NaN;
  const weft = timeOf(results, 'weft') ?? Number.NaN;
  const oneThread = timeOf(results, 'weft-one-thread') ?? Number.NaN;
  const ratios: Record<Standard, readonly [number, number | undefined]> = {
    ceiling: [flops / resident / 1e6 / sums, targets.ceiling],
    float32: [(timeOf(results, 'weft-float32') ?? Number.NaN) / resident, float32Target],
    oneThread: [oneThread / weft, targets.oneThread?.[pageKind(lab)]],
    memory: [memoryRatio(results), targets.memory],
  };
  return STANDARDS.flatMap((against) => {
    const [ratio, target] = ratios[against];
    if (targets[against] === undefined || Number.isNaN(ratio)) return [];
    const nothing = { most: Number.POSITIVE_INFINITY, floorShare: 0 };
    return [judge(lab.method, { against, ratio, target, ...nothing }, false)];
  });
}

/** The memory of the fastest peer that is known, over Weft's. */
function memoryRatio(results: WarmResults): number {
  const peers = PEERS.flatMap((name) => (isTimed(results[name]) ? [results[name]] : []));
  const [fastest] = peers.toSorted((a, b) => a.ms - b.ms);
  const { weft } = results;
  return (fastest?.peakBytes ?? Number.NaN) / ((isTimed(weft) && weft.peakBytes) || Number.NaN);
}

type Measured = Pick<Cell, 'against' | 'ratio' | 'target' | 'most' | 'floorShare'>;

function judge(method: Method, measured: Measured, differs: boolean): Cell {
  const { ratio, target = 0, floorShare } = measured;
  const isReached = ratio >= target || floorShare >= method.floor.enough;
  const isClose = !isReached && ratio >= target * (1 - method.repeatMargin);
  return { ...measured, isReached, isClose, isBest: false, differs };
}

const isTimed = (result: RuntimeResult | undefined): result is Timed =>
  result !== undefined && 'ms' in result;

/** Of each pair the better one. */
export function bestCells(cells: readonly Cell[], others: readonly Cell[]): Cell[] {
  return cells.map((cell) => {
    const other = others.find(({ against }) => against === cell.against);
    if (!cell.isClose || other === undefined) return cell;
    return { ...(other.ratio > cell.ratio || other.isReached ? other : cell), isBest: true };
  });
}
