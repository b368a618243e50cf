import { UnsupportedError } from '../../../core/errors.ts';
import type { Message } from '../protobuf/schema.ts';

/** The newest version of ONNX's own operator set that the importer functions were written against. */
export const MAX_OPSET = 28;

export const MICROSOFT = 'com.microsoft';

/** The domain of operators that ONNX may still change. */
export const PREVIEW = 'ai.onnx.preview';

/** The domain of the operators that train. */
export const TRAINING = 'ai.onnx.preview.training';

/** ONNX's own domain has two names. */
export function canonicalDomain(domain: string | undefined): string {
  return domain === undefined || domain === 'ai.onnx' ? '' : domain;
}

/** The versions of operator sets by domain that a model, or a function in it, was written against. */
export class OperatorSets {
  readonly #versions: ReadonlyMap<string, number>;

  private constructor(versions: ReadonlyMap<string, number>) {
    this.#versions = versions;
  }

  /**
   * The versions that `imports` state. A model that states none of ONNX's own means the first, as
   * those of IR version 1 and 2 do. Throws UnsupportedError for a version that is not known.
   */
  static of(imports: readonly Message<'OperatorSetIdProto'>[], where: string): OperatorSets {
    const versions = new Map([
      ['', 1],
      [MICROSOFT, 1],
    ]);
    for (const { domain, version = 1 } of imports) {
      const name = canonicalDomain(domain);
      if (name === '' && (version < 1 || version > MAX_OPSET)) {
        throw new UnsupportedError({
          where,
          got: `operator set ${version}`,
          expected: `1 to ${MAX_OPSET}`,
          remedy: 'Convert the model to an older operator set.',
        });
      }
      versions.set(name, version);
    }
    return new OperatorSets(versions);
  }

  /** The version of a domain's operator set; 1 where the model does not say. */
  version(domain: string | undefined): number {
    return this.#versions.get(canonicalDomain(domain)) ?? 1;
  }
}
