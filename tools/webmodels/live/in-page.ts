// These functions run in the page, so each has all that it needs within.

/** How a photograph is shown: scaled, turned clockwise and moved, in shares of the frame. */
export interface FramePlace {
  readonly scale: number;
  readonly degrees: number;
  readonly right: number;
  readonly down: number;
}

/** A solution of MediaPipe, and frames of a photograph for it. */
export interface SolutionOrder {
  /** The package, such as `hands`, and the class in it. */
  readonly pack: string;
  readonly type: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** Addresses of photographs. */
  readonly photos: readonly string[];
  /** The longer side of frames in pixels. */
  readonly longest: number;
  readonly frames: readonly FramePlace[];
  /** True: frames of one video. False: each is a picture by itself. */
  readonly isVideo: boolean;
}

interface Point {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly visibility?: number;
}

/** What MediaPipe's solutions give, as far as it is compared: points in shares of the frame. */
export interface SolutionResults {
  readonly multiHandLandmarks?: readonly (readonly Point[])[];
  readonly multiHandWorldLandmarks?: readonly (readonly Point[])[];
  readonly multiHandedness?: readonly { readonly label: string; readonly score: number }[];
  readonly multiFaceLandmarks?: readonly (readonly Point[])[];
  readonly poseLandmarks?: readonly Point[];
  readonly poseWorldLandmarks?: readonly Point[];
  readonly detections?: readonly {
    readonly boundingBox: {
      readonly xCenter: number;
      readonly yCenter: number;
      readonly width: number;
      readonly height: number;
    };
    readonly landmarks: readonly { readonly x: number; readonly y: number }[];
  }[];
  /** The levels of the mask, in base64. */
  readonly mask?: string;
}

export interface SolutionFrame {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and alpha, in base64: what the solution saw. */
  readonly pixels: string;
  readonly results: SolutionResults;
  readonly milliseconds: number;
}

interface Solution {
  setOptions(options: object): void;
  onResults(listen: (results: SolutionResults & { segmentationMask?: ImageBitmap }) => void): void;
  initialize(): Promise<void>;
  send(inputs: object): Promise<void>;
  close(): Promise<void>;
}

/** Runs a solution on all frames of an order, photograph by photograph. */
export async function runSolution(order: SolutionOrder): Promise<readonly SolutionFrame[]> {
  const folder = `/peers/@mediapipe/${order.pack}`;
  if (!(order.type in globalThis)) {
    await new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = `${folder}/${order.pack}.js`;
      script.addEventListener('load', resolve);
      script.addEventListener('error', reject);
      document.body.append(script);
    });
  }
  const base64Of = (bytes: Uint8ClampedArray): string => {
    let text = '';
    for (let at = 0; at < bytes.length; at += 0x8000) {
      text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    }
    return btoa(text);
  };
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('no canvas of two dimensions');
  const Type = (globalThis as unknown as Record<string, new (files: object) => Solution>)[
    order.type
  ];
  if (Type === undefined) throw new Error(`${order.pack}: no class ${order.type}`);
  const solution = new Type({ locateFile: (file: string) => `${folder}/${file}` });
  solution.setOptions(order.options);
  let latest: Parameters<Parameters<Solution['onResults']>[0]>[0] = {};
  solution.onResults((results) => (latest = results));
  await solution.initialize();
  const frames: SolutionFrame[] = [];
  // What was followed is lost on a picture of nothing; a reset would compile all shaders again.
  const forget = async (): Promise<void> => {
    const nothing = document.createElement('canvas');
    [nothing.width, nothing.height] = [canvas.width, canvas.height];
    await solution.send({ image: nothing });
  };
  for (const photo of order.photos) {
    const image = await createImageBitmap(await (await fetch(photo)).blob());
    const shrink = Math.min(1, order.longest / Math.max(image.width, image.height));
    const [width, height] = [Math.round(image.width * shrink), Math.round(image.height * shrink)];
    [canvas.width, canvas.height] = [width, height];
    await forget();
    for (const { scale, degrees, right, down } of order.frames) {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.fillStyle = '#777';
      context.fillRect(0, 0, width, height);
      context.translate(width * (0.5 + right), height * (0.5 + down));
      context.rotate((degrees * Math.PI) / 180);
      context.scale(scale, scale);
      context.drawImage(image, -width / 2, -height / 2, width, height);
      const { data } = context.getImageData(0, 0, width, height);
      if (!order.isVideo) await forget();
      const begun = performance.now();
      await solution.send({ image: canvas });
      const milliseconds = performance.now() - begun;
      const { segmentationMask, ...given } = latest;
      const results: Record<string, unknown> = JSON.parse(
        JSON.stringify(given, (key, value: unknown) => (key === 'image' ? undefined : value)),
      );
      if (segmentationMask !== undefined && segmentationMask !== null) {
        const drawn = new OffscreenCanvas(width, height).getContext('2d');
        drawn?.drawImage(segmentationMask, 0, 0, width, height);
        const levels = drawn?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
        results['mask'] = base64Of(levels.filter((_, i) => i % 4 === 3));
      }
      frames.push({ width, height, pixels: base64Of(data), results, milliseconds });
    }
  }
  await solution.close();
  return frames;
}
