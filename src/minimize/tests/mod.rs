//! What minimising promises, by hand-made failures on drawn cases and by the faults of the bank.

mod bank;
