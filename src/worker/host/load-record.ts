import type { LoadProgress } from '../protocol/load-request.ts';

/** When something was under way, on the clock of `performance.now()`. */
interface LoadSpan {
  readonly beginMs: number;
  readonly endMs: number;
  /** The last that was reported: bytes, passes or kernels. */
  readonly loaded: number;
}

/** When a session was loaded, and each phase of it: some spans, however often they are reported. */
export class LoadRecord {
  readonly beginMs = performance.now();
  endMs = 0;
  /** Spans by what was loaded (`program` or `machine`) and by phase. */
  readonly spans: Record<string, LoadSpan> = {};

  /** A listener that also observes progress. Phases begin with their first report, or with `beginMs`. */
  observe(
    part: 'program' | 'machine',
    tell: (progress: LoadProgress) => void,
    beginMs?: number,
  ): (progress: LoadProgress) => void {
    return (progress) => {
      const { phase, loaded } = progress;
      const endMs = performance.now();
      const name = `${part} ${phase}`;
      const begin = this.spans[name]?.beginMs ?? beginMs ?? endMs;
      this.spans[name] = { beginMs: begin, endMs, loaded };
      tell(progress);
    };
  }
}
