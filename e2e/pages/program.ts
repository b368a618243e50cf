import {
  array,
  configure,
  counters,
  f32,
  matmul,
  type NdArray,
  program,
  random,
  relu,
  scan,
  softmax,
  u32,
  valueAndGrad,
  vmap,
} from '../../src/program/index.ts';

const isWasm = location.pathname.endsWith('-wasm.html');
// The compiler is in the worker of the page.
configure({ device: isWasm ? 'wasm' : 'webgpu' });

const POINTS = 90;

/** Points of three arms of a spiral, and which arm each is on. */
function spirals(): { readonly x: number[][]; readonly y: number[] } {
  const indices = Array.from({ length: POINTS }, (_, i) => i);
  const y = indices.map((i) => i % 3);
  const x = indices.map((i) => {
    const radius = i / POINTS;
    const angle = (2 * Math.PI * (i % 3)) / 3 + 3 * radius;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
  return { x, y };
}

const WEIGHTS = { w1: f32(2, 24), b1: f32(24), w2: f32(24, 3), b2: f32(3) };

const step = program(
  { weights: WEIGHTS, x: f32('n', 2), labels: f32('n', 3) },
  ({ weights, x, labels }) => {
    const loss = ({ w1, b1, w2, b2 }: Record<'w1' | 'b1' | 'w2' | 'b2', NdArray>) => {
      const scores = relu(matmul(x, w1).add(b1)).matmul(w2).add(b2);
      return softmax(scores).log().mul(labels).sum(1).mean().neg();
    };
    const [value, slope] = valueAndGrad(loss)(weights);
    const next = (name: 'w1' | 'b1' | 'w2' | 'b2') => weights[name].sub(slope[name].mul(0.8));
    return {
      loss: value,
      weights: { w1: next('w1'), b1: next('b1'), w2: next('w2'), b2: next('b2') },
    };
  },
);

/** The page's interface to the tests. */
const page = {
  /** Losses of a small network before and after training, and how many modules were compiled meanwhile. */
  async train(steps: number): Promise<{ first: number; last: number; compiled: number }> {
    const { x, y } = spirals();
    const labels = y.map((label) => [0, 1, 2].map((other) => Number(other === label)));
    const [points, classes] = [array(x), array(labels)];
    const [k1, k2] = [random.key(1), random.key(2)];
    let weights = {
      w1: random.normal(k1, [2, 24]),
      b1: array(Array<number>(24).fill(0)),
      w2: random.normal(k2, [24, 3]).mul(0.3),
      b2: array([0, 0, 0]),
    };
    const before = counters().compiled;
    let done = step({ weights, x: points, labels: classes });
    const first = await done.loss.item();
    for (let i = 1; i < steps; i++) {
      ({ weights } = done);
      done = step({ weights, x: points, labels: classes });
    }
    return { first, last: await done.loss.item(), compiled: counters().compiled - before };
  },
  /** Bits of a key, and a walk of uniform steps: the same on every device. */
  async numbers(): Promise<{ bits: number[]; walk: number[] }> {
    const walk = program(
      { key: u32(2), times: f32('n') },
      ({ key, times }) =>
        scan({ key, at: 0 }, times, ({ key: own, at }) => {
          const keys = random.split(own, 2);
          const next = at.add(random.uniform(keys.slice(1)));
          return [{ key: keys.slice(0), at: next }, next];
        })[1],
    );
    const bits = await random.bits(random.key(7), [4]).data();
    const steps = await walk({ key: random.key(3), times: [0, 0, 0] }).data();
    return { bits: Array.from(bits, Number), walk: Array.from(steps, Number) };
  },
  /** All distances between two lists of points. */
  async distances(): Promise<unknown> {
    const distance = (a: NdArray, b: NdArray) => a.sub(b).square().sum().sqrt();
    const all = vmap(vmap(distance, { inAxes: [null, 0] }), { inAxes: [0, null] });
    return all(
      [
        [0, 0],
        [3, 4],
      ],
      [
        [0, 0],
        [6, 8],
      ],
    ).toArray();
  },
  /** Eager products in a loop: results, and how many modules were compiled for them. */
  async eager(): Promise<{ values: number[]; compiled: number }> {
    const a = array([
      [1, 2],
      [3, 4],
    ]);
    const before = counters().compiled;
    const values: number[] = [];
    for (let i = 0; i < 4; i++) values.push(await a.matmul(a).add(i).sum().item());
    return { values, compiled: counters().compiled - before };
  },
  /** The message of a mistake in a body. */
  mistake(): string {
    try {
      void program({ x: f32(2, 3) }, ({ x }) => x.matmul(x)).module;
      return '';
    } catch (error) {
      return String(error);
    }
  },
};

export type ProgramPage = typeof page;

Object.assign(globalThis, { weftProgram: page });
document.documentElement.dataset['ready'] = 'true';
