import { expect, test } from 'vitest';
import { timelineEvent, timelineRun, timelineStorage } from '../testing/timeline-run.ts';
import { chromeTrace } from './chrome-trace.ts';

interface TraceEvent {
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  readonly ts: number;
  readonly dur: number;
  readonly args: Readonly<Record<string, unknown>>;
}

const RUN = timelineRun(
  9,
  [
    timelineEvent('upload', 'gpu', [0, 1], { bytes: 64 }),
    timelineEvent('instruction', 'matmul', [1, 1], {
      at: { function: 'main', instruction: 4 },
      work: { operations: 128, bytes: 768 },
      isKernelCall: true,
    }),
    timelineEvent('compile', 'a', [1, 3]),
    timelineEvent('compile', 'b', [2, 3]),
    timelineEvent('kernel', 'matmul', [5, 2], { label: 'matmul.wgsl' }),
    timelineEvent('readback', 'gpu', [5, 4], { bytes: 32 }),
  ],
  {
    storages: [
      timelineStorage('x', 64, [0, 9], [0, 3]),
      timelineStorage('matmul', 32, [1, 8], [1, 2]),
    ],
  },
);

const eventsOf = (text: string): readonly TraceEvent[] => JSON.parse(text).traceEvents;

test('a trace has each run as a process and each row of a lane as a thread', () => {
  const events = eventsOf(chromeTrace({ runs: [RUN, RUN] }, 'SwiftShader'));
  const named = (name: string, pid: number) =>
    events.filter((each) => each.name === name && each.pid === pid).map(({ args }) => args['name']);
  expect(named('process_name', 2)).toEqual(['Run 2 on SwiftShader']);
  // Two pipelines that are compiled at the same time have a thread each.
  const lanes = ['Instructions', 'Compilations', 'Compilations', 'Uploads', 'Kernels', 'Readbacks'];
  expect(named('thread_name', 1)).toEqual(lanes);
  expect(named('thread_name', 2)).toEqual(lanes);
});

test('a load is a process behind the runs', () => {
  const load = timelineRun(4, [
    timelineEvent('download', 'program and weights', [0, 3], { bytes: 99 }),
    timelineEvent('compile', 'kernels', [1, 3]),
    timelineEvent('compile', 'matmul', [1, 2]),
  ]);
  const events = eventsOf(chromeTrace({ runs: [RUN], load }, 'gpu')).filter(({ pid }) => pid === 2);
  const args = events.filter(({ ph }) => ph === 'M').map((each) => each.args['name']);
  const names = ['Load on gpu', 'Downloads', 'Compilations', 'Compilations'];
  expect(args.filter((name) => name !== undefined)).toEqual(names);
  expect(events.filter(({ ph }) => ph === 'X').map(({ name, dur }) => [name, dur])).toEqual([
    ['program and weights', 3000],
    ['kernels', 3000],
    ['matmul', 2000],
  ]);
});

test('events have microseconds, and what is known of them', () => {
  const spans = eventsOf(chromeTrace({ runs: [RUN] }, 'gpu')).filter(({ ph }) => ph === 'X');
  expect(spans.map(({ name, tid, ts, dur }) => [name, tid, ts, dur])).toEqual([
    ['matmul', 1, 1000, 1000],
    ['a', 2, 1000, 3000],
    ['b', 3, 2000, 3000],
    ['gpu', 4, 0, 1000],
    ['matmul', 5, 5000, 2000],
    ['gpu', 6, 5000, 4000],
  ]);
  expect(spans[0]?.args).toEqual({ function: 'main', instruction: 4, operations: 128, bytes: 768 });
  expect(spans[4]?.args).toEqual({ label: 'matmul.wgsl' });
});

test('memory is a counter', () => {
  const counters = eventsOf(chromeTrace({ runs: [RUN] }, 'gpu')).filter(({ ph }) => ph === 'C');
  expect(counters.map(({ ts, args }) => [ts, args['bytes']])).toEqual([
    [0, 64],
    [1000, 96],
    [8000, 64],
    [9000, 0],
  ]);
});
