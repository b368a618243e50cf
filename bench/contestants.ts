import type { BenchCase, CasePlan, Peer, RunName } from './cases/bench-case.ts';
import { type Lab, pageKind } from './lab.ts';
import type { StartRequest } from './page/runtime.ts';

/** One that takes part in the rounds of a case. */
export interface Contestant {
  readonly name: RunName;
  readonly benchCase: BenchCase;
  readonly request: StartRequest;
}

/** How a runtime starts, unless a contestant says otherwise. */
export function startRequest(
  { device, threads }: Pick<Lab, 'device' | 'threads'>,
  launches = 1,
): StartRequest {
  return {
    device,
    threads,
    launches,
    session: { threads },
    isAheadOfTime: true,
    isResident: false,
    isInPage: false,
  };
}

/** Those of a case in the order of their turns; the floor, which needs Weft's outputs, later than Weft. */
export function contestantsOf(lab: Lab, plan: CasePlan, benchCase: BenchCase): Contestant[] {
  const { method, peers, threads } = lab;
  const base = startRequest(lab, plan.launches);
  const own = { benchCase, request: base };
  const resident = { benchCase, request: { ...base, isResident: true } };
  const { ceiling, float32 } = plan.targets;
  const joins = (peer: Peer): boolean => peers.includes(peer) && plan.peers.includes(peer);
  const list: (Contestant | false | undefined)[] = [
    { name: 'weft', ...own },
    joins('onnxruntime') && { name: 'onnxruntime', ...own },
    needsResident(lab, benchCase) && { name: 'weft-resident', ...resident },
    ...(['tensorflow', 'jax'] as const).map(
      (name) => joins(name) && { name, ...(method.residentPeers.includes(name) ? resident : own) },
    ),
    benchCase.float32 && { name: 'weft-float32', ...resident, benchCase: benchCase.float32 },
    threads > 1 &&
      plan.targets.oneThread?.[pageKind(lab)] !== undefined && {
        name: 'weft-one-thread',
        benchCase,
        request: { ...base, session: { threads: 1 } },
      },
    plan.isTraining !== true && { name: 'floor', ...own },
    (ceiling ?? float32) !== undefined && { name: 'multiply-adds', ...own },
    float32 !== undefined && { name: 'byte-products', ...own },
  ];
  return list.filter((contestant) => contestant !== false && contestant !== undefined);
}

const needsResident = ({ method }: Lab, { resident }: BenchCase): boolean =>
  method.residentPeers.length > 0 && resident !== undefined;
