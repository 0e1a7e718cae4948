! SPDX-License-Identifier: Apache-2.0
! Predicts with a model file, and prints the class names and the outputs: predict MODEL.
!   gfortran predict.f90 $(pkg-config --libs linnet-c) -o predict
module linnet
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    function linnet_model_load(path, options, model) bind(c) result(code)
      import
      character(kind=c_char), intent(in) :: path(*), options(*)
      type(c_ptr), intent(out) :: model
      integer(c_int32_t) :: code
    end function
    subroutine linnet_model_free(model) bind(c)
      import
      type(c_ptr), value :: model
    end subroutine
    function linnet_model_classes(model, count) bind(c) result(code)
      import
      type(c_ptr), value :: model
      integer(c_int32_t), intent(out) :: count
      integer(c_int32_t) :: code
    end function
    function linnet_model_class_name(model, label, name) bind(c) result(code)
      import
      type(c_ptr), value :: model
      integer(c_int32_t), value :: label
      type(c_ptr), intent(out) :: name
      integer(c_int32_t) :: code
    end function
    ! Fortran's first dim is the contiguous one: samples are columns.
    function linnet_predict(model, samples, inputs, inputs_floats, outputs, outputs_floats) bind(c) result(code)
      import
      type(c_ptr), value :: model
      integer(c_int64_t), value :: samples
      real(c_float), intent(in) :: inputs(*)
      integer(c_size_t), value :: inputs_floats, outputs_floats
      real(c_float), intent(inout) :: outputs(*)
      integer(c_int32_t) :: code
    end function
    function linnet_last_error() bind(c) result(text)
      import
      type(c_ptr) :: text
    end function
    function strlen(text) bind(c) result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  function text_of(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(pointer, letters, [strlen(pointer)])
    allocate (character(len=size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  subroutine check(code)
    integer(c_int32_t), intent(in) :: code
    if (code == 0) return
    print '(a)', text_of(linnet_last_error())
    error stop 1
  end subroutine

end module

program predict
  use linnet
  implicit none
  type(c_ptr) :: model, name
  character(len=4096) :: path
  real(c_float) :: samples(4, 3), outputs(3, 3)
  integer(c_int32_t) :: classes, label
  integer :: i, j

  call get_command_argument(1, path)
  call check(linnet_model_load(trim(path)//c_null_char, '{"threads": 1}'//c_null_char, model))
  call check(linnet_model_classes(model, classes))
  do label = 0, classes - 1
    call check(linnet_model_class_name(model, label, name))
    print '(a)', text_of(name)
  end do
  do j = 1, 3
    do i = 1, 4
      samples(i, j) = 0.125*(mod((4*(j - 1) + i - 1)*7, 11) - 5)
    end do
  end do
  call check(linnet_predict(model, 3_c_int64_t, samples, size(samples, kind=c_size_t), outputs, &
                            size(outputs, kind=c_size_t)))
  print '(es16.9)', outputs
  call linnet_model_free(model)
end program
