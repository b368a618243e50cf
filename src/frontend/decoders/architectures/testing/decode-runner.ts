import { compile } from '../../../../compiler/compile.ts';
import { dtypeInfo } from '../../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import type { PrecisionOption } from '../../../../core/contracts/precision.ts';
import type { TensorType } from '../../../../core/contracts/primitive-function.ts';
import type { Device } from '../../../../device/device.ts';
import { createHostDevice } from '../../../../device/host/host-device.ts';
import { AdtValue, TensorValue } from '../../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../../runtime/virtual-machine.ts';
import type { Decoder } from '../../generation-module.ts';
import type { DecoderFile } from '../decoder-file.ts';

/** Loads the decoder of a file that is all there. */
export async function loadFrom(file: DecoderFile, bytes: Uint8Array): Promise<Decoder> {
  return await file.load(({ byteOffset, byteLength = 0 }) =>
    bytes.subarray(byteOffset, byteOffset + byteLength),
  );
}

/** Runs `@decode` of a module, with caches that stay on the device. */
export class DecodeRunner {
  readonly #vm: VirtualMachine;
  readonly #types: readonly TensorType[];
  #caches: readonly (HostTensor | TensorValue)[] = [];

  private constructor(vm: VirtualMachine, types: readonly TensorType[]) {
    this.#vm = vm;
    this.#types = types;
  }

  static async open(
    { module, caches }: Decoder,
    device: Device = createHostDevice(),
    { precision }: PrecisionOption = {},
  ): Promise<DecodeRunner> {
    const executable = compile(module, { verify: true });
    const devices = [device, createHostDevice()];
    const vm = await VirtualMachine.create(executable, {
      devices,
      compile: 'on demand',
      precision,
    });
    return new DecodeRunner(vm, caches);
  }

  /** Bytes of the caches of so many rows of so much room. */
  cacheBytes(rows: number, capacity: number): number {
    return this.#types.reduce((sum, { dtype, shape: [, heads, , size] }) => {
      const { byteLength } = dtypeInfo(dtype);
      return sum + rows * Number(heads) * capacity * Number(size) * byteLength;
    }, 0);
  }

  /** Empties the caches of so many rows. Unwritten places hold 100s, which nothing may read. */
  start(rows: number, capacity: number): void {
    this.#caches = this.#types.map(({ dtype, shape: [, heads, , size] }) =>
      HostTensor.splat(dtype, [rows, Number(heads), capacity, Number(size)], 100),
    );
  }

  /** Logits of the last token of each row. Rows of tokens are padded to one length. */
  async step(rows: readonly (readonly number[])[], first: readonly number[]): Promise<number[][]> {
    const length = Math.max(...rows.map((row) => row.length));
    const tokens = rows.flatMap((row) => [
      ...row,
      ...new Array<number>(length - row.length).fill(0),
    ]);
    const ints = (shape: readonly number[], values: readonly number[]): HostTensor =>
      HostTensor.from('int32', shape, values);
    const count = rows.length;
    const result = await this.#vm.get('decode')(
      ints([count, length], tokens),
      ints([count], first),
      ints(
        [count, 1],
        rows.map((row) => row.length - 1),
      ),
      ...this.#caches,
    );
    if (!(result instanceof AdtValue)) throw new Error('decode gives a tuple');
    const [logits, ...caches] = result.fields.filter((field) => field instanceof TensorValue);
    if (logits === undefined) throw new Error('decode gives logits');
    const [read] = await this.#vm.read([logits]);
    this.#caches = caches;
    const width = read?.shape[2] ?? 0;
    const data = Array.from(read?.data ?? [], Number);
    return rows.map((_, row) => data.slice(row * width, (row + 1) * width));
  }
}
