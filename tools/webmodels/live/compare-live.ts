import {
  faceDetector,
  faceLandmarker,
  handLandmarker,
  type Landmark,
  poseLandmarker,
  selfieSegmenter,
} from '../../../src/tasks/live/index.ts';
import type { Checks } from '../../show/checks.ts';
import { readWebModel, WEB_MODELS } from '../models.ts';
import type { FramePlace, SolutionFrame, SolutionOrder } from './in-page.ts';
import { openMediaPipe } from './open-mediapipe.ts';

/** The largest distances of landmarks, in shares of the size of the face, hand or body. */
const MEDIAN = 0.01;
const PERCENTILE_95 = 0.03;
/** The least share of frames in which as much is found as MediaPipe finds. */
const FOUND = 0.98;
const LONGEST = 640;

type Points = readonly Pick<Landmark, 'x' | 'y'>[];
type Watchable = { data: Uint8Array; width: number; height: number };

/** A solution, the task that does the same, and the points of both in pixels. */
interface Compared {
  readonly name: string;
  readonly order: Pick<SolutionOrder, 'pack' | 'type' | 'options'>;
  readonly photos: readonly number[];
  readonly isVideo?: boolean;
  readonly open: () => Promise<Ours>;
  /** What MediaPipe found, in shares of the frame. */
  readonly theirs: (frame: SolutionFrame) => readonly Points[];
}

interface Ours {
  find(frames: readonly Watchable[], isVideo: boolean): Promise<readonly (readonly Points[])[]>;
  dispose(): Promise<void>;
}

const read = async (name: string): Promise<Uint8Array | undefined> => {
  const model = WEB_MODELS.find((one) => name === `${one.name}.tflite`);
  return model && readWebModel(model);
};

/** A task as the comparison uses it. */
async function ours<Result>(
  opened: Promise<{
    detect(picture: Watchable): Promise<Result>;
    watch(frames: AsyncIterable<Watchable>): AsyncGenerator<Result>;
    dispose(): Promise<void>;
  }>,
  pointsOf: (result: Result) => readonly Points[],
): Promise<Ours> {
  const task = await opened;
  return {
    async find(frames, isVideo) {
      const found: (readonly Points[])[] = [];
      if (!isVideo) for (const frame of frames) found.push(pointsOf(await task.detect(frame)));
      else for await (const result of task.watch(oneByOne(frames))) found.push(pointsOf(result));
      return found;
    },
    dispose: () => task.dispose(),
  };
}

async function* oneByOne<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

const PLACE = { device: 'wasm' } as const;
const landmarksOf = ({ landmarks }: { readonly landmarks: Points }): Points => landmarks;

/** A point that is not compared. */
const UNSEEN = { x: NaN, y: NaN };

const HANDS: Compared = {
  name: 'hands',
  order: { pack: 'hands', type: 'Hands', options: { maxNumHands: 2, modelComplexity: 1 } },
  photos: [4, 6],
  open: () => ours(handLandmarker(read, PLACE), ({ hands }) => hands.map(landmarksOf)),
  theirs: ({ results }) => results.multiHandLandmarks ?? [],
};
const FACES: Compared = {
  name: 'faces with irises',
  order: {
    pack: 'face_mesh',
    type: 'FaceMesh',
    options: { maxNumFaces: 2, refineLandmarks: true },
  },
  photos: [1, 2, 3, 4, 5, 6],
  open: () =>
    ours(faceLandmarker(read, { ...PLACE, count: 2 }), ({ faces }) => faces.map(landmarksOf)),
  theirs: ({ results }) => results.multiFaceLandmarks ?? [],
};
const POSES: Compared = {
  name: 'bodies',
  order: { pack: 'pose', type: 'Pose', options: { modelComplexity: 1, smoothLandmarks: false } },
  // In sample4 bodies cover each other, and neither side says whose limbs it sees.
  photos: [6],
  open: () =>
    ours(poseLandmarker(read, { ...PLACE, smoothing: false }), ({ poses }) =>
      poses.map(landmarksOf),
    ),
  // Points that nobody sees are guesses.
  theirs: ({ results: { poseLandmarks: points } }) =>
    points ? [points.map((point) => ((point.visibility ?? 0) < 0.9 ? UNSEEN : point))] : [],
};
const DETECTED: Compared = {
  name: 'face detector',
  order: { pack: 'face_detection', type: 'FaceDetection', options: { model: 'short' } },
  photos: [1, 2, 3, 4, 5, 6],
  open: () =>
    ours(faceDetector(read, PLACE), ({ faces }) =>
      faces.map(({ points }) => Object.values(points).map(([x, y]) => ({ x, y }))),
    ),
  theirs: ({ results }) => (results.detections ?? []).map(({ landmarks }) => landmarks),
};

const COMPARED: readonly Compared[] = [
  HANDS,
  FACES,
  {
    ...FACES,
    name: 'faces without irises',
    order: { ...FACES.order, options: { maxNumFaces: 2, refineLandmarks: false } },
    open: () =>
      ours(faceLandmarker(read, { ...PLACE, count: 2, irises: false }), ({ faces }) =>
        faces.map(landmarksOf),
      ),
  },
  POSES,
  DETECTED,
  { ...HANDS, name: 'hands in a video', isVideo: true },
  { ...FACES, name: 'a face in a video', photos: [1, 3], isVideo: true },
];

/** Photographs as they are, and turned and smaller. */
const STILL: readonly FramePlace[] = [
  { scale: 1, degrees: 0, right: 0, down: 0 },
  { scale: 0.8, degrees: 12, right: 0.05, down: -0.03 },
  { scale: 0.9, degrees: -20, right: -0.05, down: 0.02 },
];
/** A photograph that moves, turns and grows, frame by frame. */
const MOVING: readonly FramePlace[] = Array.from({ length: 20 }, (_, i) => ({
  scale: 0.9 + 0.1 * Math.sin(i / 5),
  degrees: 12 * Math.sin(i / 6),
  right: 0.06 * Math.sin(i / 7),
  down: 0.03 * Math.cos(i / 4),
}));

/** Live tasks beside MediaPipe's own solutions, on the same pixels. */
export async function showLive(checks: Checks, words: readonly string[]): Promise<void> {
  checks.section(
    `Live tasks beside MediaPipe's solutions: distances in sizes of the thing, at most ${MEDIAN} in the median and ${PERCENTILE_95} in 95 of 100`,
  );
  const peer = await openMediaPipe();
  try {
    for (const compared of COMPARED) {
      if (words.length > 0 && !words.some((word) => compared.name.includes(word))) continue;
      const task = await compared.open();
      try {
        const { distances, same, count } = await compareFrames(compared, task, peer.run);
        const [median, high] = [quantile(distances, 0.5), quantile(distances, 0.95)];
        const isNear = distances.length > 0 && median <= MEDIAN && high <= PERCENTILE_95;
        checks.check(
          isNear && same / count >= FOUND,
          `${compared.name}: median ${median.toFixed(4)}, 95th percentile ${high.toFixed(4)} of ${distances.length} points; as many found in ${same} of ${count} frames`,
        );
      } finally {
        await task.dispose();
      }
    }
    if (words.length === 0 || words.includes('selfie')) await compareMasks(checks, peer.run);
  } finally {
    await peer.close();
  }
}

type Run = (order: SolutionOrder) => Promise<readonly SolutionFrame[]>;

async function compareFrames(
  { order, photos, isVideo = false, theirs }: Compared,
  task: Ours,
  run: Run,
): Promise<{ readonly distances: number[]; readonly same: number; readonly count: number }> {
  const distances: number[] = [];
  let [same, count] = [0, 0];
  const all = await run({
    ...order,
    photos: photos.map(photoAt),
    longest: LONGEST,
    frames: isVideo ? MOVING : STILL,
    isVideo,
  });
  const perPhoto = all.length / photos.length;
  for (let begin = 0; begin < all.length; begin += perPhoto) {
    const frames = all.slice(begin, begin + perPhoto);
    const found = await task.find(frames.map(pixelsOf), isVideo);
    for (const [i, frame] of frames.entries()) {
      const { width, height } = frame;
      const expected = theirs(frame).map((points) =>
        points.map(({ x, y }) => ({ x: x * width, y: y * height })),
      );
      count++;
      if ((found[i]?.length ?? 0) === expected.length) same++;
      for (const points of expected) distances.push(...nearest(points, found[i] ?? []));
    }
  }
  return { distances, same, count };
}

const photoAt = (number: number): string => `/peers/@vladmandic/face-api/demo/sample${number}.jpg`;

function pixelsOf({ width, height, pixels }: SolutionFrame): Watchable {
  return { width, height, data: new Uint8Array(Buffer.from(pixels, 'base64')) };
}

/** The distances of a thing's points from those of the nearest thing of ours, in sizes of the thing. */
function nearest(points: Points, all: readonly Points[]): readonly number[] {
  const size = sizeOf(points.filter(({ x }) => !Number.isNaN(x)));
  const lists = all.map((own) =>
    points.flatMap(({ x, y }, i) => {
      const point = own[i];
      if (Number.isNaN(x)) return [];
      return point === undefined ? 1 : Math.hypot(point.x - x, point.y - y) / size;
    }),
  );
  const sums = lists.map((list) => list.reduce((sum, distance) => sum + distance, 0));
  const best = sums.indexOf(Math.min(...sums));
  // What was not found is counted among what was found or not.
  return lists[best] ?? [];
}

function sizeOf(points: Points): number {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  return Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys));
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? NaN;
}

/** Levels of masks that differ by more are counted. */
const LEVELS = 26;

async function compareMasks(checks: Checks, run: Run): Promise<void> {
  const people = await selfieSegmenter(read, PLACE);
  try {
    const order = {
      pack: 'selfie_segmentation',
      type: 'SelfieSegmentation',
      isVideo: false,
    } as const;
    let [far, count] = [0, 0];
    const frames = await run({
      ...order,
      options: { modelSelection: 0 },
      photos: [4, 6].map(photoAt),
      longest: LONGEST,
      frames: STILL,
    });
    for (const frame of frames) {
      const { data } = (await people.detect(pixelsOf(frame))).mask();
      const expected = Buffer.from(frame.results.mask ?? '', 'base64');
      count += data.length;
      far += data.filter((level, i) => Math.abs(level - (expected[i] ?? 0)) > LEVELS).length;
    }
    const share = far / count;
    checks.check(
      share <= 0.02,
      `people: ${(share * 100).toFixed(2)}% of pixels differ by more than a tenth`,
    );
  } finally {
    await people.dispose();
  }
}
