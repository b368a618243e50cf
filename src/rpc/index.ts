/** Package entry `weft-vm/rpc`: devices of other pages, workers and processes. */
export { Executable } from '../bytecode/file/executable-file.ts';
export { HostTensor } from '../core/tensor/host-tensor.ts';
export { DTypeValue, FloatValue, ShapeValue } from '../runtime/values/value.ts';
export { BaseChannel, type Channel, type ChannelListener, type Frame } from './channels/channel.ts';
export {
  connect,
  type ConnectOptions,
  findDevice,
  Remote,
  type RemoteLoadOptions,
} from './connect.ts';
export { AccessError, LimitError, ProtocolError, RemoteLostError } from './errors.ts';
export { createToken } from './handshake/create-token.ts';
export { deriveRelayToken } from './handshake/credentials.ts';
export type { RemoteDevice } from './device-service.ts';
export { linkRemote } from './values/machine-values.ts';
export { messagePortChannel, type PortLike } from './channels/message-port-channel.ts';
export { type RemoteFunction, RemoteTensor } from './values/remote-handles.ts';
export { RemoteModule } from './remote-module.ts';
export { type RpcFunction, type RpcInput, RpcTuple, type RpcValue } from './values/rpc-value.ts';
export type { ServedDevice, ServeEvent } from './served-device.ts';
export { serve, type Served, type ServeOptions } from './serve.ts';
export { type RelayedServing, serveRelay, type ServeRelayOptions } from './serve-relay.ts';
export type { TimeOptions, TimeResult } from './time-evaluator.ts';
export { webSocketChannel } from './channels/web-socket-channel.ts';
export { DEFAULT_RPC_LIMITS, type RpcLimits } from './limits.ts';
