import type { Session } from '../../client/session.ts';
import type { Size } from '../pictures/picture-options.ts';
import type { Picture } from '../pictures/pixels.ts';
import { overlap } from '../results/boxes.ts';
import type { CallOptions } from '../task-options.ts';
import { type LiveResult, LiveTask } from './live-task.ts';
import type { Detection } from './regions/detections.ts';
import { type Region, uprightBox } from './regions/geometry.ts';
import type { RegionDetector } from './regions/region-detector.ts';
import type { ReadOutput, RegionModel } from './regions/region-model.ts';
import { stillOf } from './still-picture.ts';

/** A thing with landmarks, and where to look for it in the next frame. */
export interface Tracked<Found> {
  readonly found: Found;
  readonly next: Region;
}

/** Smooths what one track finds, frame after frame. */
type Smooth<Found> = (tracked: Tracked<Found>, timeMs: number) => Tracked<Found>;

/** A detector, a model of landmarks, and what their numbers mean. */
export interface TrackerParts<Found> {
  readonly detector: RegionDetector;
  readonly model: RegionModel;
  /** The most things that are looked for. */
  readonly count: number;
  /** Where the model of landmarks looks for a detection. */
  readonly regionOf: (detection: Detection) => Region;
  /** Undefined where the model sees no such thing. */
  readonly read: (outputs: readonly ReadOutput[], region: Region) => Tracked<Found> | undefined;
  /** Outputs that `read` does without. */
  readonly unread?: readonly string[] | undefined;
  /** Undefined: nothing is smoothed. */
  readonly smoother?: (() => Smooth<Found>) | undefined;
}

interface FindOptions extends CallOptions {
  /** When the frame was shown. */
  readonly timeMs: number;
}

/** Things in a picture of a size. */
interface FoundIn<Found> {
  readonly found: readonly Found[];
  readonly size: Size;
}

interface Track<Found> {
  readonly region: Region;
  readonly smooth: Smooth<Found> | undefined;
}

/** Regions that overlap by more are of one thing. */
const SAME = 0.5;

/** Follows things from frame to frame: the detector runs only while fewer are followed than are looked for. */
export class Tracker<Found> {
  readonly #parts: TrackerParts<Found>;
  #tracks: readonly Track<Found>[] = [];

  constructor(parts: TrackerParts<Found>) {
    this.#parts = parts;
  }

  /** What is in the next frame, what was followed longest first. */
  async find(picture: Picture, options: FindOptions): Promise<FoundIn<Found>> {
    // Both models have to see the same frame of a video.
    const isNew = this.#tracks.length < this.#parts.count;
    const frame = isNew ? await stillOf(picture) : undefined;
    try {
      return await this.#find(frame?.picture ?? picture, { isNew, ...options });
    } finally {
      frame?.free();
    }
  }

  async #find(
    picture: Picture,
    { isNew, timeMs, signal }: FindOptions & { readonly isNew: boolean },
  ): Promise<FoundIn<Found>> {
    const { model, read, detector, unread } = this.#parts;
    const detected = isNew ? await detector.detect(picture, { signal }) : undefined;
    const tracks = this.#apart([...this.#tracks, ...this.#begun(detected?.detections ?? [])]);
    if (tracks.length === 0 && detected !== undefined) return { found: [], size: detected.size };
    const regions = tracks.map(({ region }) => region);
    const { results, size } = await model.run(picture, () => regions, { signal, unread });
    const seen = results.flatMap(({ outputs, region }, i) => {
      const tracked = read(outputs, region);
      if (tracked === undefined) return [];
      const smooth = tracks[i]?.smooth;
      const { found, next } = smooth?.(tracked, timeMs) ?? tracked;
      return [{ found, track: { region: next, smooth } }];
    });
    this.#tracks = seen.map(({ track }) => track);
    return { found: seen.map(({ found }) => found), size };
  }

  #begun(detections: readonly Detection[]): Track<Found>[] {
    const { regionOf, smoother, count } = this.#parts;
    return detections
      .slice(0, count)
      .map((detection) => ({ region: regionOf(detection), smooth: smoother?.() }));
  }

  /** Tracks that do not overlap, the first ones first. */
  #apart(tracks: readonly Track<Found>[]): readonly Track<Found>[] {
    const apart: Track<Found>[] = [];
    for (const track of tracks) {
      const box = uprightBox(track.region);
      const isNew = apart.every(({ region }) => overlap(uprightBox(region), box) <= SAME);
      if (isNew && apart.length < this.#parts.count) apart.push(track);
    }
    return apart;
  }
}

/** The base of tasks that follow what a detector finds. */
export abstract class TrackingTask<Found, Result extends LiveResult> extends LiveTask<Result> {
  /** @internal */
  constructor(
    sessions: readonly [Session, Session],
    parts: TrackerParts<Found>,
    resultOf: (found: readonly Found[], frame: LiveResult) => Result,
  ) {
    super(sessions, () => {
      const tracker = new Tracker(parts);
      return async (picture, call) => {
        const { found, size } = await tracker.find(picture, call);
        return resultOf(found, { ...size, timestamp: call.timeMs });
      };
    });
  }
}
