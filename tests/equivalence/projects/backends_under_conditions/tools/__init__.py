from .cuda import ApexScaler, NativeScaler
