import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Draft } from '../onnx/protobuf/schema.ts';
import { dataBeside, inlineData, onnxFromDType } from '../onnx/protobuf/tensor-data.ts';

/** Tensors from this many bytes on lie beside a model that is too large. */
const BESIDE_FROM = 1024;
/** Readers that map files into memory want whole pages. */
const ALIGNMENT = 4096;

/** Where the data of a model's tensors goes: into the model, or, of one that would be too large, into a file beside it. */
export class TensorStore {
  readonly #location: string | undefined;
  readonly #pieces: Uint8Array[] = [];
  #byteLength = 0;

  /** `location` is the name of the file beside the model; undefined: all data goes into the model. */
  constructor(location: string | undefined) {
    this.#location = location;
  }

  /** Returns true if data of this length goes into the file beside the model. */
  isBeside(byteLength: number): boolean {
    return this.#location !== undefined && byteLength >= BESIDE_FROM;
  }

  /** The bytes of the file beside the model, in pieces; none where there is no such file. */
  get pieces(): readonly Uint8Array[] {
    return this.#pieces;
  }

  /** A tensor of whole bytes as a message. */
  draftOf(name: string, { dtype, shape, bytes }: HostTensor): Draft<'TensorProto'> {
    return { name, dims: shape, dataType: onnxFromDType(dtype), ...this.placeOf(bytes) };
  }

  /** The fields of a tensor's data, in place of all that it had. */
  placeOf(bytes: Uint8Array): Draft<'TensorProto'> {
    const location = this.isBeside(bytes.byteLength) ? this.#location : undefined;
    if (location === undefined) return inlineData(bytes);
    const padding = (ALIGNMENT - (this.#byteLength % ALIGNMENT)) % ALIGNMENT;
    const offset = this.#byteLength + padding;
    this.#pieces.push(new Uint8Array(padding), bytes);
    this.#byteLength = offset + bytes.byteLength;
    return dataBeside({ location, offset, length: bytes.byteLength });
  }
}
